import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KubeletServingHarness } from "../../../test/support/node/kubelet-serving-harness.ts";
import { Observed } from "../../../test/support/explain/observed.ts";

let world: KubeletServingHarness;
let observed: Observed;
beforeEach(() => {
  world = new KubeletServingHarness();
  observed = new Observed(world.clock);
  world.observed = observed;
});
afterEach(() => world.stop());

describe("kubelet-serving-csr-approver, observed", () => {
  test("plans the approval of a request that the cloud bears out, and gives none", async () => {
    world.machine("node-a", [{ type: "InternalIP", address: "10.0.0.1" }]);
    world.ask("csr-1");
    world.start();
    await world.clock.advance(60_000);
    expect(observed.plans).toEqual({
      "csr-1": ["patch certificatesigningrequests/approval csr-1: status.conditions"],
    });
    expect([world.approved, world.events]).toEqual([[], []]);
  });

  test("plans nothing for a request that names what the cloud does not know, and says so to no one", async () => {
    world.machine("node-a", [{ type: "InternalIP", address: "10.0.0.2" }]);
    world.ask("csr-1");
    world.start();
    await world.clock.advance(600_000);
    expect([observed.plans, world.approved, world.events]).toEqual([{}, [], []]);
  });
});
