import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RouteCloud } from "../../../test/support/route/route-cloud.ts";
import { PERIOD_MS, ROUTED, RouteHarness } from "../../../test/support/route/route-harness.ts";
import { contractError } from "../../provider/model/errors.ts";

const A = "10.120.1.0/24";
const B = "10.120.2.0/24";

let world: RouteHarness;
let west: RouteCloud;
beforeEach(async () => {
  world = new RouteHarness();
  west = new RouteCloud();
  world.otherClouds["west"] = west;
});
afterEach(() => world[Symbol.asyncDispose]());

describe("node-route with two providers", () => {
  test("makes the routes of each node in its own cloud", async () => {
    await world.start();
    world.node("e", { podCIDRs: [A] });
    world.node("w", { podCIDRs: [B], providerID: "west://w" });
    await world.pass(1000);
    expect([world.cloud.table, west.table]).toEqual([[`${A} acme://e`], [`${B} west://w`]]);
    expect([world.condition("e"), world.condition("w")]).toEqual([ROUTED, ROUTED]);
  });

  test("goes on in one cloud while the other answers nothing", async () => {
    const hanging = Promise.withResolvers<void>();
    west.beforeCall = () => hanging.promise;
    world.node("w", { podCIDRs: [B], providerID: "west://w" });
    await world.start();
    world.node("e", { podCIDRs: [A] });
    await world.pass(1000);
    expect(world.condition("e")).toBe(ROUTED);
    expect(west.table).toEqual([]);
    hanging.resolve();
    await world.pass(1000);
    expect(world.condition("w")).toBe(ROUTED);
  });

  test("goes on in one cloud while the other fails, and removes nothing there", async () => {
    west.seed(B, "west://w");
    west.fail = () => contractError("CLOUD_UNAVAILABLE", "away");
    await world.start();
    world.node("e", { podCIDRs: [A] });
    await world.pass(1000);
    expect([world.cloud.table, west.table]).toEqual([[`${A} acme://e`], [`${B} west://w`]]);
  });

  test("removes the route that a node has left in the cloud it moved from, and no other", async () => {
    west.seed(A, "west://n");
    west.seed(B, "west://m");
    world.node("n", { podCIDRs: [A] });
    world.node("m", { podCIDRs: [B], providerID: "" });
    await world.start();
    await world.pass(PERIOD_MS);
    expect(world.cloud.table).toEqual([`${A} acme://n`]);
    // The owner of m is unknown.
    expect(west.table).toEqual([`${B} west://m`]);
  });

  test("leaves alone what leads to another cloud's own node in a table that both see", async () => {
    west.seed(B, "west://w");
    world.cloud.seed(B, "west://w");
    world.node("w", { podCIDRs: [B], providerID: "west://w" });
    await world.start();
    await world.pass(PERIOD_MS);
    expect([world.cloud.table, west.table]).toEqual([[`${B} west://w`], [`${B} west://w`]]);
  });

  test("refuses a range that a node of another cloud has (case A-1)", async () => {
    await world.start();
    world.node("e", { podCIDRs: [A] });
    world.node("w", { podCIDRs: [A], providerID: "west://w" });
    await world.pass(1000);
    expect([world.cloud.table, west.table]).toEqual([[`${A} acme://e`], []]);
    expect(world.eventTexts).toHaveLength(1);
  });
});
