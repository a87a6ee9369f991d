import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LifecycleHarness } from "../../../test/support/node/lifecycle-harness.ts";
import { contractError } from "../../provider/model/errors.ts";

const PROTECTION = "cloudwire.dev/deletion-protection";
const APPROVAL = "cloudwire.dev/approve-deletion";

let world: LifecycleHarness;
beforeEach(() => {
  world = new LifecycleHarness();
});
afterEach(() => world.stop());

const kept = (name: string, why: string) =>
  `${name}: Normal NodeDeletionDelayed Node is not deleted: ${why} (re-evaluated automatically). To delete it, end the protection`;

describe("a protected Node", () => {
  test.each([{ value: "true" }, { value: "" }, { value: "yes" }])(
    "is not deleted, with an event, when the annotation is $value (case N-8)",
    async ({ value }) => {
      world.node("a", { annotations: { [PROTECTION]: value, [APPROVAL]: "true" } });
      world.node("b");
      for (const name of ["a", "b"]) world.says.set(name, "absent");
      world.start();
      await world.clock.advance(1_700_000);
      expect(world.deletions).toEqual(["b"]);
      expect(world.events.filter((text) => text.startsWith("a:"))).toEqual([
        kept("a", `annotation ${PROTECTION} protects it`),
      ]);
    },
  );

  test("is deleted when the annotation is removed, or false (case N-8)", async () => {
    world.node("a", { annotations: { [PROTECTION]: "true" } });
    world.node("b", { annotations: { [PROTECTION]: "false" } });
    for (const name of ["a", "b"]) world.says.set(name, "absent");
    world.start();
    await world.clock.advance(600_000);
    expect(world.deletions).toEqual(["b"]);
    world.annotate("a", {});
    await world.clock.advance(25_000);
    expect(world.deletions).toEqual(["b"]);
    await world.clock.advance(20_000);
    expect(world.deletions).toEqual(["b", "a"]);
  });

  test("is not deleted when many lose their protection one by one: they count before the first is deleted (case N-8)", async () => {
    const names = world.names(100);
    for (const name of names) {
      world.node(name, { annotations: { [PROTECTION]: "true" } });
      world.says.set(name, "absent");
    }
    world.start();
    await world.clock.advance(600_000);
    for (const name of names) {
      world.annotate(name, {});
      await world.clock.advance(1000);
    }
    await world.clock.advance(1_200_000);
    expect(world.deletions).toEqual([]);
  });

  test("is tainted while its instance is stopped (case N-8)", async () => {
    world.node("a", { annotations: { [PROTECTION]: "true" } });
    world.says.set("a", "stopped");
    world.start();
    await world.clock.advance(1000);
    expect(world.writes).toEqual([expect.stringContaining("node.cloudprovider.kubernetes.io/shutdown")]);
  });

  test("does not open the circuit breaker for others (case N-8)", async () => {
    for (const name of world.names(20)) {
      world.node(name, { annotations: { [PROTECTION]: "true" } });
      world.says.set(name, "absent");
    }
    world.node("other");
    world.says.set("other", "absent");
    world.start();
    await world.clock.advance(60_000);
    expect(world.deletions).toEqual(["other"]);
  });
});

test("with --node-deletion-protection no Node is deleted, stopped ones are tainted, and it can be changed (case N-8)", async () => {
  world.options.nodeDeletionProtection = true;
  for (const name of ["gone", "off"]) world.node(name);
  world.says.set("gone", "terminated");
  world.says.set("off", "stopped");
  world.start();
  await world.clock.advance(600_000);
  expect(world.writes).toEqual([expect.stringContaining("node.cloudprovider.kubernetes.io/shutdown")]);
  expect(world.events).toEqual([kept("gone", "--node-deletion-protection is set")]);
  world.options.nodeDeletionProtection = false;
  await world.clock.advance(60_000);
  expect(world.deletions).toEqual(["gone"]);
});

test("after --node-deletion-protection, all absent Nodes count before the first is deleted (case N-8)", async () => {
  world.options.nodeDeletionProtection = true;
  world.start();
  for (const name of world.names(100)) {
    world.node(name);
    world.says.set(name, "absent");
    await world.clock.advance(1000);
  }
  await world.clock.advance(600_000);
  world.options.nodeDeletionProtection = false;
  await world.clock.advance(1_200_000);
  expect(world.deletions).toEqual([]);
});

const UNKNOWN =
  "a: Warning NodeDeletionDelayed Node is not deleted: it is not Ready, and the state of its instance is unknown: 429 (re-evaluated automatically). To fix: check that the provider is healthy";

describe("a dead Node about which the provider keeps saying", () => {
  test("that its state is unknown has an event after five minutes, again after half an hour (case N-9)", async () => {
    world.node("a");
    world.says.set("a", contractError("RATE_LIMITED", "429"));
    world.start();
    await world.clock.advance(230_000);
    expect(world.events).toEqual([]);
    await world.clock.advance(40_000);
    expect(world.events).toEqual([UNKNOWN]);
    await world.clock.advance(1_700_000);
    expect(world.events).toEqual([UNKNOWN]);
    await world.clock.advance(200_000);
    expect(world.events).toEqual([UNKNOWN, UNKNOWN]);
  });

  test("that its state is unknown for half an hour has an event now (case N-9)", async () => {
    world.node("a");
    world.says.set("a", contractError("RATE_LIMITED", "429", { retryAfterMs: 1_800_000 }));
    world.start();
    await world.clock.advance(10_000);
    expect(world.events).toEqual([UNKNOWN]);
  });

  test("that it is another's has an event (case N-9)", async () => {
    world.node("a");
    world.says.set("a", "notOwned");
    world.start();
    await world.clock.advance(600_000);
    expect(world.events).toEqual([
      "a: Warning NodeDeletionDelayed Node is not deleted: it is not Ready, and its provider does not own its instance: another's (re-evaluated automatically). To fix: check the provider ID and the account of the provider",
    ]);
  });

  test("one thing and another in turn has one event for each (case N-9)", async () => {
    world.node("a");
    world.start();
    for (let round = 0; round < 40; round++) {
      world.says.set("a", round % 2 === 0 ? "notOwned" : contractError("RATE_LIMITED", "429"));
      await world.clock.advance(35_000);
    }
    expect(world.events).toHaveLength(2);
  });

  test("nothing, beside many others, has its event in its turn (case N-9)", async () => {
    for (const name of world.names(200)) {
      world.node(name);
      world.says.set(name, contractError("RATE_LIMITED", "429"));
    }
    world.start();
    await world.clock.advance(300_000);
    expect(world.events.length).toBeLessThan(50);
    await world.clock.advance(900_000);
    expect(new Set(world.events).size).toBe(200);
    expect(world.events).toHaveLength(200);
  });
});
