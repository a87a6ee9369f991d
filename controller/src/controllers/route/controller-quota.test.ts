import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PERIOD_MS, RouteHarness } from "../../../test/support/route/route-harness.ts";

let world: RouteHarness;
beforeEach(() => {
  world = new RouteHarness();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("the route table's limit", () => {
  test("is reported once when it comes near, and once when it is reached", async () => {
    world.cloud.limit = 10;
    for (const index of [1, 2, 3, 4, 5, 6, 7]) world.node(`n${index}`, { podCIDRs: [`10.120.${index}.0/24`] });
    await world.start();
    expect(world.events).toEqual([]);
    for (const index of [8, 9, 10]) {
      world.node(`n${index}`, { podCIDRs: [`10.120.${index}.0/24`] });
      await world.pass(1000);
    }
    await world.pass(2 * PERIOD_MS);
    expect(world.eventTexts).toEqual([
      "Warning RouteTableNearlyFull Route table of provider acme is more than 80 % full (limit 10): raise the limit in the cloud or remove routes before nodes are added",
      "Warning RouteTableFull Route table of provider acme is full (limit 10): new nodes get no route until the limit is raised in the cloud or routes are removed",
    ]);
    expect(await world.metrics.value("cloudwire_route_quota_limit", { provider: "acme" })).toBe(10);
    expect(await world.metrics.value("cloudwire_route_quota_used", { provider: "acme" })).toBe(10);
  });
});
