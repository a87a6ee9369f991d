import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MINUTE_MS, ROUTED, RouteHarness, UNROUTED } from "../../../test/support/route/route-harness.ts";
import { contractError, ProviderError } from "../../provider/model/errors.ts";

const A = "10.120.1.0/24";
const B = "10.120.2.0/24";

let world: RouteHarness;
beforeEach(() => {
  world = new RouteHarness();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("a node whose route cannot be made", () => {
  test.each([
    { reason: "CIDR_CONFLICT", quietMs: 55_000 },
    { reason: "QUOTA_EXCEEDED", quietMs: 55_000 },
    { reason: "FIELD_INVALID", quietMs: 290_000 },
    { reason: "CLOUD_PERMISSION_DENIED", quietMs: 55_000 },
    { reason: "CLOUD_UNAVAILABLE", quietMs: 300 },
    { reason: "ROUTE_TARGET_NOT_FOUND", quietMs: 1200 },
  ] as const)("says so after $reason, lets $quietMs ms pass and tries again", async ({ reason, quietMs }) => {
    await world.start();
    world.cloud.fail = (call) => (call === "ensure" ? contractError(reason, "no") : undefined);
    world.node("a", { podCIDRs: [A] });
    await world.pass(500);
    expect(world.condition("a")).toBe(UNROUTED);
    expect(world.eventTexts).toEqual([
      expect.stringMatching(`^Warning FailedToCreateRoute Could not create route uid-a ${A} for node a: no \\(`),
    ]);
    world.cloud.fail = () => undefined;
    await world.pass(quietMs);
    const before = world.cloud.table;
    await world.pass(15_000);
    expect([before, world.cloud.table]).toEqual([[], [`${A} acme://a`]]);
    expect(world.condition("a")).toBe(ROUTED);
  });

  test("waits in silence as long as a throttled cloud requests", async () => {
    await world.start();
    world.cloud.fail = (call) =>
      call === "ensure" ? contractError("RATE_LIMITED", "slowly", { retryAfterMs: 20_000 }) : undefined;
    world.node("a", { podCIDRs: [A] });
    await world.pass(19_000);
    expect(world.cloud.changes).toEqual([`ensure ${A}`]);
    expect(world.eventTexts).toEqual([]);
    world.cloud.fail = () => undefined;
    await world.pass(2000);
    expect(world.condition("a")).toBe(ROUTED);
  });

  test("is not reported of a sidecar that is just being restarted, but of one that stays away", async () => {
    await world.start();
    world.cloud.fail = (call) =>
      call === "ensure" ? new ProviderError({ code: "UNAVAILABLE", message: "acme is not connected" }) : undefined;
    world.node("a", { podCIDRs: [A] });
    await world.pass(500);
    expect(world.eventTexts).toEqual([]);
    await world.pass(1500);
    expect(world.eventTexts).toEqual([
      `Warning FailedToCreateRoute Could not create route uid-a ${A} for node a: acme is not connected (retrying with backoff). To fix: check that the provider runs, reaches its cloud and has valid credentials`,
    ]);
  });

  test("is left in peace when its machine is gone", async () => {
    await world.start();
    world.lookUp = {
      kind: "absent",
      basis: "terminated",
      observeTimeMs: 0,
      strong: true,
      witness: { provider: "acme", bootId: "boot-1", scopeId: "project-1", receivedAtMs: 0 },
    };
    world.cloud.fail = (call) => (call === "ensure" ? contractError("ROUTE_TARGET_NOT_FOUND", "no") : undefined);
    world.node("a", { podCIDRs: [A] });
    await world.pass(4 * MINUTE_MS);
    expect(world.cloud.changes).toEqual([`ensure ${A}`]);
    expect([world.condition("a"), world.eventTexts]).toEqual([UNROUTED, []]);
  });

  test("does not hold up the others of the batch", async () => {
    await world.start();
    world.cloud.foreign.add(A);
    world.node("a", { podCIDRs: [A] });
    world.node("b", { podCIDRs: [B] });
    await world.pass(1000);
    expect(world.cloud.changes).toEqual([`ensure ${A} ${B}`]);
    expect([world.condition("a"), world.condition("b")]).toEqual([UNROUTED, ROUTED]);
  });

  test("gets its route as soon as another node's makes room", async () => {
    world.cloud.limit = 1;
    world.node("a", { podCIDRs: [A] });
    await world.start();
    world.node("b", { podCIDRs: [B] });
    await world.pass(1000);
    expect(world.condition("b")).toBe(UNROUTED);
    world.remove("a");
    await world.pass(1000);
    expect(world.cloud.table).toEqual([`${B} acme://b`]);
    expect(world.condition("b")).toBe(ROUTED);
  });
});
