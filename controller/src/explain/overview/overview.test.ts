import type { ObjectRow } from "@cloudwire/operator-api";
import { describe, expect, test } from "vitest";
import { snapshot } from "../../../test/support/explain/explain-builders.ts";
import { callMetrics } from "../../provider/observers/metrics.ts";
import { controllerMetrics } from "../../runtime/metrics.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { type AlarmFacts, type OverviewFacts, alarmsOf, overviewOf, totalsOf } from "./overview.ts";

const NONE = { ok: 0, progressing: 0, waiting: 0, blocked: 0, unmanaged: 0 };

const FACTS: OverviewFacts = {
  nowMs: Date.UTC(2026, 0, 1),
  cluster: "c",
  replica: { identity: "one", isLeader: true, version: "1.0.0" },
  observing: false,
  counts: { node: NONE, service: NONE, route: NONE, provider: NONE },
  controllers: [],
  providers: [],
  totals: { calls: {}, failedCalls: {}, reconciles: {} },
  circuitBreakers: new Map(),
  alarms: [],
};

describe("overviewOf()", () => {
  test("adds up the queues of each controller, and has zeros of one that does not run", () => {
    const queues = [
      { name: "east", high: 1, low: 2, processing: 1 },
      { name: "west", high: 4, low: 0, processing: 0 },
    ];
    const { controllers } = overviewOf({
      ...FACTS,
      controllers: [
        { name: "a", state: "running", workers: 5, queues, processing: 1, delayed: 8, failing: 3 },
        { name: "b", state: "disabled" },
      ],
    });
    expect(controllers).toEqual([
      { name: "a", state: "running", queued: 7, processing: 1, delayed: 8, failing: 3 },
      { name: "b", state: "disabled", queued: 0, processing: 0, delayed: 0, failing: 0 },
    ]);
  });

  test("shows the status, calls and budgets of a provider", () => {
    const east = snapshot({
      health: { ready: true, reasons: [{ name: "CloudNotReady", message: "the cloud is slow" }] },
      calls: { inFlight: 3, waiting: 1, limit: 16 },
      budgets: [
        {
          classes: ["instances", "routes"],
          cloudCallsPerSecond: 10 / 3,
          burst: 5,
          tokens: 1.234_56,
          heldMs: 1500,
          waiting: { high: 2, low: 5 },
        },
        {
          classes: ["volumes"],
          cloudCallsPerSecond: undefined,
          burst: undefined,
          tokens: undefined,
          heldMs: 0,
          waiting: { high: 0, low: 0 },
        },
      ],
    });
    const { providers } = overviewOf({
      ...FACTS,
      providers: [east],
      totals: { calls: { east: 12 }, failedCalls: { east: 2 }, reconciles: {} },
      circuitBreakers: new Map([["east", { open: true, absentNodes: 4, message: "Four." }]]),
    });
    expect(providers).toMatchObject([
      {
        name: "east",
        address: "unix:///east.sock",
        connection: "ready",
        ready: true,
        reasons: ["the cloud is slow"],
        calls: 12,
        failedCalls: 2,
        inFlight: 3,
        budgets: [
          {
            quotaClass: "instances, routes",
            cloudCallsPerSecond: 3.33,
            tokens: 1.23,
            queuedCalls: 7,
            throttledUntilTime: "2026-01-01T00:00:01.500Z",
          },
          { quotaClass: "volumes", queuedCalls: 0 },
        ],
        deletionCircuitBreaker: { open: true, absentNodes: 4, message: "Four." },
      },
    ]);
    expect(providers[0]?.budgets[1]).toEqual({ quotaClass: "volumes", queuedCalls: 0 });
  });

  test("has zeros and a closed circuit breaker for an unused provider", () => {
    const { providers } = overviewOf({ ...FACTS, providers: [snapshot({ info: undefined })] });
    expect(providers[0]).toMatchObject({
      calls: 0,
      failedCalls: 0,
      deletionCircuitBreaker: { open: false, absentNodes: 0 },
    });
    expect(providers[0]).not.toHaveProperty("version");
  });

  test("has no circuit breaker on a standby", () => {
    const replica = { identity: "two", isLeader: false, leaderIdentity: "one", version: "1.0.0" };
    const { providers } = overviewOf({ ...FACTS, replica, providers: [snapshot()] });
    expect(providers[0]).not.toHaveProperty("deletionCircuitBreaker");
  });
});

describe("totals", () => {
  test("totals are those of the metrics, by provider and by controller", async () => {
    const metrics = new Metrics();
    const { durationSeconds } = callMetrics(metrics);
    const controller = controllerMetrics(metrics)("cloud-node-controller", "cloud-node");
    const call = { provider: "one", method: "GetInstances", code: "OK", reason: "" };
    durationSeconds.observe(call, 1);
    durationSeconds.observe({ ...call, method: "GetRoutes" }, 2);
    durationSeconds.observe({ ...call, code: "UNAVAILABLE" }, 3);
    durationSeconds.observe({ ...call, provider: "two", code: "UNAVAILABLE" }, 3);
    controller.reconciled("success", 1);
    controller.reconciled("error", 1);
    expect(await totalsOf(metrics)).toEqual({
      calls: { one: 3, two: 1 },
      failedCalls: { one: 1, two: 1 },
      reconciles: { "cloud-node-controller": 2 },
    });
  });

  test("nothing was counted where nothing counts", async () => {
    expect(await totalsOf(new Metrics())).toEqual({ calls: {}, failedCalls: {}, reconciles: {} });
  });
});

describe("alarms", () => {
  const NOTHING: AlarmFacts = { providers: [], circuitBreakers: new Map(), controllers: [] };

  const provider = (name: string, state: ObjectRow["state"], reason?: string): ObjectRow => ({
    object: `provider/${name}`,
    state,
    ...(reason === undefined ? {} : { reason }),
    summary: `Provider ${name} says so.`,
    provider: name,
  });

  const lines = (facts: Partial<AlarmFacts>): readonly string[] =>
    alarmsOf({ ...NOTHING, ...facts }).map(({ reason, object = "", message }) => `${reason} ${object} ${message}`);

  describe("alarmsOf()", () => {
    test("are none while all is well", () => {
      expect(
        lines({
          providers: [provider("east", "ok")],
          circuitBreakers: new Map([["east", { open: false, absentNodes: 2 }]]),
        }),
      ).toEqual([]);
    });

    test("sorts circuit breakers first, then blocked, then waiting, then restarting", () => {
      const circuitBreakers = new Map([["east", { open: true, absentNodes: 9, message: "Nine of ten are gone." }]]);
      const providers = [
        provider("east", "blocked", "TooManyNodeDeletions"),
        provider("west", "waiting", "Throttled"),
        provider("south", "blocked", "InvalidCredentials"),
      ];
      const controllers = [
        { name: "cloud-node-controller", state: "running" },
        {
          name: "service-lb-controller",
          state: "restarting",
          restartTime: "2026-01-01T00:00:00.000Z",
          lastPanic: { time: "2026-01-01T00:00:00.000Z", message: "planted" },
        },
      ] as const;
      expect(lines({ circuitBreakers, providers, controllers })).toEqual([
        "TooManyNodeDeletions provider/east Nine of ten are gone.",
        "InvalidCredentials provider/south Provider south says so.",
        "Throttled provider/west Provider west says so.",
        "ControllerRestarting  service-lb-controller failed with an internal error: planted; it restarts at 2026-01-01T00:00:00.000Z.",
      ]);
    });

    test("each says what to do and where to read on", () => {
      expect(alarmsOf({ ...NOTHING, providers: [provider("south", "blocked", "InvalidCredentials")] })).toEqual([
        {
          reason: "InvalidCredentials",
          object: "provider/south",
          message: "Provider south says so.",
          remedy: expect.any(String),
          documentation: expect.stringMatching(/^docs\//),
        },
      ]);
    });
  });
});
