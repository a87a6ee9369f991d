import { describe, expect, test } from "vitest";
import { service } from "../../../../test/support/builders.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import type { Service } from "../../../api/service.ts";
import { MUTED, PacedConditions } from "./status.ts";
import type { Readiness } from "../plan/status.ts";

const failed = (message: string): Readiness => ({ status: "False", reason: "Conflict", message });

/** The Service as it is once `wanted` is written. */
function saying(wanted: Readiness): Service {
  const condition = { type: "cloudwire.dev/LoadBalancerReady", observedGeneration: 0, lastTransitionTimeMs: 0 };
  return service("web", {
    metadata: { generation: 0 },
    status: { loadBalancer: { ingress: [] }, conditions: [{ ...condition, ...wanted }] },
  });
}

describe("PacedConditions.items()", () => {
  test("lets a first word, another reason and another status through at once", () => {
    const conditions = new PacedConditions(new FakeClock());
    expect(conditions.items(service("web"), failed("a"))).toMatchObject([{ message: "a" }]);
    expect(conditions.items(saying(failed("a")), { ...failed("a"), reason: "LoadBalancerFailed" })).toMatchObject([
      { reason: "LoadBalancerFailed" },
    ]);
    expect(conditions.items(saying(failed("a")), { ...failed("a"), status: "Unknown" })).toMatchObject([
      { status: "Unknown" },
    ]);
  });

  test("lets another wording through when five minutes have passed, each Service by itself", async () => {
    const clock = new FakeClock();
    const conditions = new PacedConditions(clock);
    conditions.items(service("web"), failed("try 1"));
    expect(conditions.items(saying(failed("try 1")), failed("try 2"))).toBeUndefined();
    await clock.advance(299_999);
    expect(conditions.items(saying(failed("try 1")), failed("try 3"))).toBeUndefined();
    await clock.advance(1);
    expect(conditions.items(saying(failed("try 1")), failed("try 4"))).toMatchObject([{ message: "try 4" }]);
    expect(conditions.items(saying(failed("try 4")), failed("try 5"))).toBeUndefined();
    conditions.forget("default/web");
    expect(conditions.items(saying(failed("try 4")), failed("try 6"))).toMatchObject([{ message: "try 6" }]);
  });

  test("says nothing twice", () => {
    expect(new PacedConditions(new FakeClock()).items(saying(failed("a")), failed("a"))).toBeUndefined();
  });
});

test("MUTED says nothing", () => {
  expect(MUTED.items(service("web"), failed("a"))).toBeUndefined();
});
