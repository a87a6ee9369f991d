import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LifecycleHarness } from "../../../test/support/node/lifecycle-harness.ts";
import { Observed } from "../../../test/support/explain/observed.ts";

let world: LifecycleHarness;
let observed: Observed;
beforeEach(() => {
  world = new LifecycleHarness();
  observed = new Observed(world.clock);
  world.observed = observed;
});
afterEach(() => world.stop());

/** So many Nodes whose machines the cloud calls absent, and looks at them for as long as a deletion takes. */
async function lose(gone: number, of: number): Promise<void> {
  for (const name of world.names(of)) world.node(name);
  for (const name of world.names(gone)) world.says.set(name, "absent");
  for (const name of world.names(of).slice(gone)) world.ready(name);
  world.start();
  await world.clock.advance(600_000);
}

describe("cloud-node-lifecycle, observed", () => {
  test("plans the deletion that the guard lets through, and neither makes nor announces it", async () => {
    await lose(1, 40);
    expect(observed.plans).toEqual({ n0: ["delete nodes n0"] });
    expect([world.writes, world.events]).toEqual([[], []]);
  });

  test("plans nothing before the guard is sure", async () => {
    world.node("n0");
    world.says.set("n0", "absent");
    world.start();
    await world.clock.advance(20_000);
    expect(observed.plans).toEqual({});
  });

  test("plans nothing that the circuit breaker would hold, and says nothing on the Nodes", async () => {
    await lose(24, 40);
    expect(observed.plans).toEqual({});
    expect([world.writes, world.events]).toEqual([[], []]);
  });

  test("plans nothing on the word of a provider that is not trusted", async () => {
    world.untrustedReason = "its cloud is away";
    await lose(1, 40);
    expect([observed.plans, world.writes, world.events]).toEqual([{}, [], []]);
  });

  test("plans the taint of a machine that is stopped", async () => {
    world.node("n0");
    world.says.set("n0", "stopped");
    world.start();
    await world.clock.advance(60_000);
    expect(observed.plans).toEqual({ n0: ["patch nodes n0: spec.taints"] });
    expect(world.writes).toEqual([]);
  });
});
