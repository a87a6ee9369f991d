import { describe, expect, onTestFinished, test } from "vitest";
import { controllerEnvironment } from "../../../test/support/controller-context.ts";
import { FakeClock, settle } from "../../../test/support/fake-clock.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { info as providerInfo } from "../../../test/support/provider/provider-builders.ts";
import { HandshakeHistory } from "../../provider/connection/handshake.ts";
import { Controller } from "../../runtime/controller.ts";
import { controllerMetrics, panicCounter } from "../../runtime/metrics.ts";
import { type Result, requeueAfter } from "../../runtime/reconciler.ts";
import { SupervisedController } from "../../runtime/supervised-controller.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { SERVICE_BACKOFF } from "../../workqueue/rate-limited-queue.ts";
import { controllerDetails, controllersOverview, debugProviders } from "./debug.ts";

const NAME = "service-lb-controller";
const START_MS = Date.UTC(2026, 0, 1);

/** A controller that never finishes a key named `hangs`, always fails a key named `fails`, and requeues others after an hour. */
async function running(keys: readonly string[], lifeMs: number) {
  const clock = new FakeClock(START_MS);
  const metrics = new Metrics();
  const metricsOf = controllerMetrics(metrics)(NAME, "service");
  const log = new FakeLog();
  let ids = 0;
  const build = (): Controller => {
    const reconcile = (key: string): Promise<Result> => {
      if (key.includes("hangs")) return new Promise(() => undefined);
      return key.includes("fails") ? Promise.reject(new Error("cloud busy")) : Promise.resolve(requeueAfter(3_600_000));
    };
    const environment = controllerEnvironment({
      name: NAME,
      clock,
      log,
      controllerMetrics: metricsOf,
      newId: () => `id-${++ids}`,
    });
    return new Controller(environment, {
      reconciler: { reconcile: ({ key }) => reconcile(key) },
      sources: [
        {
          name: "keys",
          ready: () => Promise.resolve(),
          start: (queue) => {
            for (const key of keys) queue.add(key);
            return () => undefined;
          },
        },
      ],
      workers: 1,
      subqueues: { of: (key) => key.split("/")[0] ?? "", count: 4 },
      backoff: SERVICE_BACKOFF,
    });
  };
  const supervised = new SupervisedController({
    name: NAME,
    build,
    clock,
    random: () => 0,
    log,
    panics: panicCounter(metrics),
  });
  const stop = new AbortController();
  void supervised.run({ stop: stop.signal, abort: stop.signal });
  onTestFinished(() => stop.abort());
  await clock.advance(lifeMs);
  return { clock, supervised };
}

test("controllersOverview() lists every controller", async () => {
  const { supervised } = await running(["east/hangs", "east/waits", "west/fails", "west/fine"], 1000);
  expect(controllersOverview(["cloud-node-controller", NAME], [supervised])).toEqual([
    { name: "cloud-node-controller", state: "disabled" },
    {
      name: NAME,
      state: "running",
      startTime: "2026-01-01T00:00:00.000Z",
      workers: 4,
      queues: [
        { name: "east", high: 1, low: 0, processing: 1 },
        { name: "west", high: 0, low: 0, processing: 0 },
      ],
      processing: 1,
      delayed: 2,
      failing: 1,
    },
  ]);
});

test("controllerDetails() lists processing, delayed and failed keys", async () => {
  const { clock, supervised } = await running(["east/hangs", "west/fails", "west/fine"], 6000);
  const failure = {
    key: "west/fails",
    outcome: "error",
    durationMs: 0,
    error: { message: "cloud busy" },
  };
  const again = { ...failure, endTime: "2026-01-01T00:00:05.000Z", reconcileID: "id-4" };
  expect(controllerDetails(NAME, [supervised], clock.nowMs())).toEqual({
    name: NAME,
    state: "running",
    startTime: "2026-01-01T00:00:00.000Z",
    workers: 4,
    queues: [
      { name: "east", high: 0, low: 0, processing: 1 },
      { name: "west", high: 0, low: 0, processing: 0 },
    ],
    processing: { count: 1, first: [{ key: "east/hangs", processingMs: 6000 }] },
    delayed: {
      count: 2,
      first: [
        { key: "west/fails", dueTime: "2026-01-01T00:00:15.000Z", inMs: 9000, failures: 2 },
        { key: "west/fine", dueTime: "2026-01-01T01:00:00.000Z", inMs: 3_594_000, failures: 0 },
      ],
    },
    failing: { count: 1, first: [again] },
    recent: [
      again,
      {
        key: "west/fine",
        outcome: "requeue_after",
        endTime: "2026-01-01T00:00:00.000Z",
        durationMs: 0,
        reconcileID: "id-3",
      },
      { ...failure, endTime: "2026-01-01T00:00:00.000Z", reconcileID: "id-2" },
    ],
  });
});

test("controllerDetails() names the first hundred of many keys and counts them all", async () => {
  const keys = Array.from({ length: 15_000 }, (_, index) => `west/fine-${index}`);
  const { clock, supervised } = await running(keys, 0);
  await settle();
  const { delayed } = controllerDetails(NAME, [supervised], clock.nowMs());
  expect([delayed?.count, delayed?.first.length]).toEqual([15_000, 100]);
});

test("controllerDetails() shows a restarting controller without its keys", async () => {
  const clock = new FakeClock(START_MS);
  const stop = new AbortController();
  const supervised = new SupervisedController({
    name: NAME,
    build: () => {
      throw new Error("x is undefined");
    },
    clock,
    random: () => 0,
    log: new FakeLog(),
    panics: panicCounter(new Metrics()),
  });
  void supervised.run({ stop: stop.signal, abort: stop.signal });
  await clock.advance(1000);
  expect(controllerDetails(NAME, [supervised], clock.nowMs())).toEqual({
    name: NAME,
    state: "restarting",
    restartTime: "2026-01-01T00:00:03.000Z",
    panics: 2,
    lastPanic: { time: "2026-01-01T00:00:01.000Z", message: "x is undefined" },
  });
  stop.abort();
});

describe("debug providers", () => {
  const NOW_MS = Date.UTC(2026, 0, 1);

  test("debugProviders() shows a provider that is away and one whose cloud throttles", () => {
    const info = providerInfo();
    const handshakes = new HandshakeHistory();
    handshakes.record(info, NOW_MS - 2000);
    handshakes.record({ ...info, bootId: "boot-2", limits: { ...info.limits, maxConcurrentCalls: 5 } }, NOW_MS - 1000);
    const unlimited = { cloudCallsPerSecond: undefined, burst: undefined, tokens: undefined, heldMs: 0 };
    const none = { high: 0, low: 0 };
    const away = { name: "Connecting", message: "no response to the handshake yet" } as const;
    const shown = debugProviders(
      [
        {
          name: "west",
          address: "unix:///west.sock",
          connection: "connecting",
          health: { ready: false, reasons: [away] },
          warnings: [],
          info: undefined,
          handshakes: [],
          status: undefined,
          scopeChange: undefined,
          untrustedReason: "not connected",
          budgets: [{ classes: ["routes"], ...unlimited, waiting: none }],
          calls: { inFlight: 0, waiting: 0, limit: 1 },
        },
        {
          name: "east",
          address: "unix:///east.sock",
          connection: "ready",
          health: { ready: true, reasons: [] },
          warnings: ["plaintext"],
          info,
          handshakes: handshakes.records,
          status: {
            ready: true,
            bootId: "boot-2",
            scopeId: "project-1",
            configRevision: "7",
            conditions: [
              {
                type: "CloudReachable",
                status: "True",
                reason: "Reached",
                message: "",
                lastTransitionTimeMs: 1_799_999_000_000,
              },
            ],
            lastCloudSuccessTimeMs: NOW_MS,
            credentialsExpireTimeMs: undefined,
            rateLimits: [{ name: "reads", limit: 10, remaining: 3, resetTimeMs: NOW_MS }],
            receivedAtMs: NOW_MS,
          },
          scopeChange: { confirmed: "project-1", current: "project-2", remedy: "it is accepted" },
          untrustedReason: undefined,
          budgets: [
            {
              classes: ["instances", "routes"],
              cloudCallsPerSecond: 2.5049,
              burst: 1,
              tokens: -3.3333,
              heldMs: 2000,
              waiting: { high: 1, low: 2 },
            },
          ],
          calls: { inFlight: 2, waiting: 1, limit: 16 },
        },
      ],
      NOW_MS,
    );
    const at = (beforeMs: number) => new Date(NOW_MS - beforeMs).toISOString();
    expect(JSON.parse(JSON.stringify(shown))).toEqual([
      {
        name: "west",
        address: "unix:///west.sock",
        connection: "connecting",
        ready: false,
        reasons: [away],
        warnings: [],
        recentHandshakes: [],
        absenceIgnored: "not connected",
        calls: { inFlight: 0, queued: 0, limit: 1 },
        budgets: [{ quotaClasses: ["routes"], queued: none }],
      },
      {
        name: "east",
        address: "unix:///east.sock",
        connection: "ready",
        ready: true,
        reasons: [],
        warnings: ["plaintext"],
        handshake: {
          name: info.name,
          version: info.version,
          bootId: info.bootId,
          contract: `1.${info.contractMinor}`,
          scope: "project-1",
          providerIdPrefixes: ["acme://"],
          limits: info.limits,
        },
        recentHandshakes: [
          { time: at(1000), version: info.version, bootId: "boot-2", changes: ["limits.maxConcurrentCalls: 16 -> 5"] },
          { time: at(2000), version: info.version, bootId: info.bootId, changes: [] },
        ],
        status: {
          time: at(0),
          ready: true,
          configRevision: "7",
          conditions: [
            {
              type: "CloudReachable",
              status: "True",
              reason: "Reached",
              message: "",
              lastTransitionTime: new Date(1_799_999_000_000).toISOString(),
            },
          ],
          lastCloudSuccessTime: at(0),
          rateLimits: [{ name: "reads", limit: 10, remaining: 3, resetTime: at(0) }],
        },
        scopeChange: { confirmed: "project-1", current: "project-2", remedy: "it is accepted" },
        calls: { inFlight: 2, queued: 1, limit: 16 },
        budgets: [
          {
            quotaClasses: ["instances", "routes"],
            cloudCallsPerSecond: 2.5,
            burst: 1,
            tokens: -3.33,
            throttledUntilTime: at(-2000),
            queued: { high: 1, low: 2 },
          },
        ],
      },
    ]);
  });
});
