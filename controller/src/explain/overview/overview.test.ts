import { describe, expect, test } from "vitest";
import { snapshot } from "../../../test/support/explain-builders.ts";
import { type OverviewFacts, overviewOf } from "./overview.ts";

const NONE = { ok: 0, working: 0, waiting: 0, blocked: 0, unmanaged: 0 };

const FACTS: OverviewFacts = {
  nowMs: Date.UTC(2026, 0, 1),
  cluster: "c",
  replica: { identity: "one", leads: true, version: "1.0.0" },
  writes: true,
  counts: { node: NONE, service: NONE, route: NONE, provider: NONE },
  controllers: [],
  providers: [],
  totals: { calls: {}, failedCalls: {}, reconciles: {} },
  brakes: new Map(),
  alarms: [],
};

describe("overviewOf()", () => {
  test("adds up the lanes of each controller, and has zeros of one that does not run", () => {
    const lanes = [
      { name: "east", high: 1, low: 2, working: 1 },
      { name: "west", high: 4, low: 0, working: 0 },
    ];
    const { controllers } = overviewOf({
      ...FACTS,
      controllers: [
        { name: "a", state: "running", workers: 5, lanes, working: 1, delayed: 8, failing: 3 },
        { name: "b", state: "disabled" },
      ],
    });
    expect(controllers).toEqual([
      { name: "a", state: "running", waiting: 7, working: 1, delayed: 8, failing: 3 },
      { name: "b", state: "disabled", waiting: 0, working: 0, delayed: 0, failing: 0 },
    ]);
  });

  test("tells of a provider how it is, what was asked of it, and which limits hold", () => {
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
      brakes: new Map([["east", { holds: true, gone: 4, message: "Four." }]]),
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
            callsPerSecond: 3.33,
            tokens: 1.23,
            waiting: 7,
            heldUntil: "2026-01-01T00:00:01.500Z",
          },
          { quotaClass: "volumes", waiting: 0 },
        ],
        brake: { holds: true, gone: 4, message: "Four." },
      },
    ]);
    expect(providers[0]?.budgets[1]).toEqual({ quotaClass: "volumes", waiting: 0 });
  });

  test("has zeros and no brake of a provider that was never asked anything", () => {
    const { providers } = overviewOf({ ...FACTS, providers: [snapshot({ info: undefined })] });
    expect(providers[0]).toMatchObject({ calls: 0, failedCalls: 0, brake: { holds: false, gone: 0 } });
    expect(providers[0]).not.toHaveProperty("version");
  });

  test("says nothing of the brake where another replica leads, which alone knows", () => {
    const replica = { identity: "two", leads: false, leader: "one", version: "1.0.0" };
    const { providers } = overviewOf({ ...FACTS, replica, providers: [snapshot()] });
    expect(providers[0]).not.toHaveProperty("brake");
  });
});
