import { describe, expect, test } from "vitest";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { routeMetrics } from "./metrics.ts";
import { type QuotaLevel, QuotaWatch, quotaLevel } from "./quota-watch.ts";

describe("quotaLevel()", () => {
  test.each<{ limit: number; used: number; wanted: QuotaLevel }>([
    { limit: 10, used: 0, wanted: "roomy" },
    { limit: 10, used: 7, wanted: "roomy" },
    { limit: 10, used: 8, wanted: "nearlyFull" },
    { limit: 1000, used: 799, wanted: "roomy" },
    { limit: 1000, used: 999, wanted: "nearlyFull" },
    { limit: 10, used: 10, wanted: "full" },
    { limit: 10, used: 12, wanted: "full" },
  ])("is $wanted with $used of $limit", ({ wanted, ...quota }) => {
    expect(quotaLevel(quota)).toBe(wanted);
  });
});

describe("QuotaWatch", () => {
  function watched(uses: readonly (number | undefined)[]): readonly string[] {
    const reasons: string[] = [];
    const watch = new QuotaWatch({
      metrics: routeMetrics(new Metrics()),
      events: { record: ({ reason }) => reasons.push(reason) },
      log: new FakeLog(),
    });
    for (const used of uses) watch.observe("acme", used === undefined ? undefined : { limit: 10, used });
    return reasons;
  }

  test.each([
    { when: "it never comes near", uses: [1, 7, undefined, 2], reported: [] },
    { when: "it stays near", uses: [8, 9, 8, 9], reported: ["RouteTableNearlyFull"] },
    { when: "it fills up at once", uses: [10, 10], reported: ["RouteTableFull"] },
    {
      when: "it fills up twice",
      uses: [9, 10, 9, 10],
      reported: ["RouteTableNearlyFull", "RouteTableFull", "RouteTableFull"],
    },
    { when: "a provider says nothing in between", uses: [9, undefined, 9], reported: ["RouteTableNearlyFull"] },
  ])("reports each step up once when $when", ({ uses, reported }) => {
    expect(watched(uses)).toEqual(reported);
  });
});
