import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LifecycleHarness } from "../../../test/support/node/lifecycle-harness.ts";

let world: LifecycleHarness;
beforeEach(() => {
  world = new LifecycleHarness();
});
afterEach(() => world.stop());

const UNIDENTIFIED = { spec: { providerID: "" } };
const HELD =
  "a: Warning NodeDeletionDelayed Node is not deleted: it has no provider ID, and no provider has an instance with the name a, or is known to have had one (re-evaluated automatically). If its instance no longer exists, delete the Node: kubectl delete node a";

const PROVIDERS = [{ providers: ["acme"] }, { providers: ["acme", "other"] }] as const;

describe.each(PROVIDERS)("a Node without provider ID, with providers $providers,", ({ providers }) => {
  beforeEach(() => {
    world.providers = providers;
  });

  test("is kept, with an event, when no instance has its name (case N-1)", async () => {
    world.node("a", UNIDENTIFIED);
    world.says.set("a", "absent");
    world.start();
    await world.clock.advance(1_700_000);
    expect([world.deletions, world.events]).toEqual([[], [HELD]]);
  });

  test("is kept when it is new, and its instance is listed late (case N-1)", async () => {
    world.node("a", { ageMs: 0, ...UNIDENTIFIED });
    world.says.set("a", "absent");
    world.start();
    await world.clock.advance(600_000);
    expect([world.deletions, world.events]).toEqual([[], [HELD]]);
  });

  test("does not count for the circuit breaker while it is kept (case N-1)", async () => {
    for (const name of world.names(50)) {
      world.node(name, UNIDENTIFIED);
      world.says.set(name, "absent");
    }
    world.node("gone");
    world.says.set("gone", "absent");
    world.start();
    await world.clock.advance(60_000);
    expect(world.deletions).toEqual(["gone"]);
  });

  test("is deleted when its instance is terminated (case N-1)", async () => {
    world.node("a", UNIDENTIFIED);
    world.says.set("a", "terminated");
    world.start();
    await world.clock.advance(10_000);
    expect(world.deletions).toEqual(["a"]);
  });

  test("is deleted when the provider had its instance before, and reports it absent (case N-1)", async () => {
    world.node("a", UNIDENTIFIED);
    await world.observe("a");
    world.says.set("a", "absent");
    world.start();
    await world.clock.advance(60_000);
    expect(world.deletions).toEqual(["a"]);
  });

  test.each([
    { it: "of the same name", change: () => world.node("a", { uid: "another", ...UNIDENTIFIED }) },
    { it: "after a change of the scope", change: () => void (world.scopeId = "project-2") },
  ])("is kept when the provider had the instance of another Node $it (case N-1)", async ({ change }) => {
    world.node("a", UNIDENTIFIED);
    await world.observe("a");
    world.says.set("a", "absent");
    change();
    world.start();
    await world.clock.advance(600_000);
    expect([world.deletions, world.events]).toEqual([[], [HELD]]);
  });
});
