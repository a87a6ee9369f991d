import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { IpamHarness, ranges } from "../../../test/support/node/ipam-harness.ts";
import { Observed } from "../../../test/support/explain/observed.ts";

let world: IpamHarness;
let observed: Observed;
beforeEach(() => {
  world = new IpamHarness();
  observed = new Observed(world.clock);
  world.observed = observed;
});
afterEach(() => world.stop());

describe("node-ipam, observed", () => {
  test("plans ranges for the Nodes that have none, each a range of its own, and writes none", async () => {
    world.node("taken", ["10.120.0.0/24"]);
    world.node("a");
    world.node("b");
    world.start(ranges(["10.120.0.0/16 24"]));
    await world.clock.advance(60_000);
    expect(observed.plans).toEqual({
      a: ['patch nodes a: spec.podCIDR, spec.podCIDRs["10.120.1.0/24"]'],
      b: ['patch nodes b: spec.podCIDR, spec.podCIDRs["10.120.2.0/24"]'],
    });
    expect([world.kube.writes, world.events]).toEqual([[], []]);
  });

  test("has no plan any more once the program in use has given the Node a range", async () => {
    world.node("a");
    world.start(ranges(["10.120.0.0/16 24"]));
    await world.clock.advance(60_000);
    expect(Object.keys(observed.plans)).toEqual(["a"]);
    world.node("a", ["10.120.7.0/24"]);
    await world.clock.advance(60_000);
    expect([observed.plans, world.kube.writes]).toEqual([{}, []]);
  });

  test("says on no Node that nothing is free", async () => {
    world.node("a", ["10.120.0.0/24"]);
    world.node("b");
    world.start(ranges(["10.120.0.0/24 24"]));
    await world.clock.advance(600_000);
    expect([observed.plans, world.kube.writes, world.events]).toEqual([{}, [], []]);
  });
});
