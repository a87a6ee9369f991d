import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { apiError } from "../../../test/support/kube/fake-kube.ts";
import { LifecycleHarness, type Said } from "../../../test/support/node/lifecycle-harness.ts";
import { NODES } from "../../kube/resources/node.ts";
import { contractError, ProviderError } from "../../provider/model/errors.ts";

const SHUTDOWN = { key: "node.cloudprovider.kubernetes.io/shutdown", effect: "NoSchedule" };
const UNAVAILABLE = new ProviderError({ code: "UNAVAILABLE", message: "the cloud is down" });

let world: LifecycleHarness;
beforeEach(() => {
  world = new LifecycleHarness();
});
afterEach(() => world.stop());

describe("cloud-node-lifecycle deletes", () => {
  test("a Node after two absences half a minute apart, if it is still the one and unchanged", async () => {
    world.node("a");
    world.says.set("a", "absent");
    world.start();
    await world.clock.advance(29_000);
    expect([world.writes, world.events]).toEqual([[], []]);
    await world.clock.advance(2000);
    expect(world.kube.writes).toEqual([
      { verb: "delete", target: "nodes/a", preconditions: { uid: "uid-a", resourceVersion: expect.any(String) } },
    ]);
    expect(world.events).toEqual([
      "a: Normal DeletingNode Deleting node a because it does not exist in the cloud provider",
    ]);
    expect(world.calls).toEqual([["a"], ["a"]]);
    expect(await world.metrics.value("cloudwire_node_deletions_total", { provider: "acme" })).toBe(1);
    await world.clock.advance(120_000);
    expect([world.calls.length, world.deletions]).toEqual([2, ["a"]]);
  });

  test("a Node whose machine is terminated for sure once it has settled", async () => {
    world.node("a");
    world.says.set("a", "terminated");
    world.start();
    await world.clock.advance(4900);
    expect(world.deletions).toEqual([]);
    await world.clock.advance(1000);
    expect(world.deletions).toEqual(["a"]);
  });

  test("a Node that never reported, once it is old enough", async () => {
    world.node("a", { ageMs: 0 });
    world.says.set("a", "absent");
    world.start();
    await world.clock.advance(60_000);
    expect(world.deletions).toEqual([]);
    await world.clock.advance(35_000);
    expect(world.deletions).toEqual(["a"]);
  });

  test("again after a conflict, with two more looks at most, and says nothing of it", async () => {
    world.node("a");
    world.says.set("a", "absent");
    let conflicts = 1;
    world.kube.intercept = ({ verb }) => (verb === "delete" && conflicts-- > 0 ? apiError("conflict") : undefined);
    world.start();
    await world.clock.advance(36_000);
    expect(world.deletions).toEqual(["a", "a"]);
    expect(world.events.filter((event) => event.includes("DeletingNodeFailed"))).toEqual([]);
    expect(world.calls).toHaveLength(3);
  });

  test("again with back-off when the server refuses, and says so", async () => {
    world.node("a");
    world.says.set("a", "absent");
    world.kube.intercept = ({ verb }) => (verb === "delete" ? apiError("forbidden") : undefined);
    world.start();
    await world.clock.advance(31_000);
    expect(world.events).toEqual([
      "a: Normal DeletingNode Deleting node a because it does not exist in the cloud provider",
      "a: Warning DeletingNodeFailed Failed deleting node a: fake forbidden",
    ]);
    await world.clock.advance(300_000);
    expect(world.deletions.length).toBeLessThan(8);
  });
});

describe("cloud-node-lifecycle asks the cloud", () => {
  test("no sooner than the provider requests", async () => {
    world.node("a");
    world.says.set("a", contractError("RATE_LIMITED", "429", { retryAfterMs: 20_000 }));
    world.start();
    await world.clock.advance(19_900);
    expect(world.calls).toHaveLength(1);
    await world.clock.advance(1000);
    expect(world.calls).toHaveLength(2);
  });

  test("nothing about Nodes that are Ready", async () => {
    for (const name of world.names(50)) {
      world.node(name);
      world.ready(name);
    }
    world.start();
    await world.clock.advance(600_000);
    expect([world.calls, world.writes]).toEqual([[], []]);
  });

  test("nothing about Nodes that have just joined", async () => {
    for (const name of world.names(50)) world.node(name, { ageMs: 0, spec: {} });
    world.start();
    await world.clock.advance(60_000);
    expect(world.calls).toEqual([]);
    await world.clock.advance(2000);
    expect(world.calls).toEqual([expect.any(Array)]);
  });

  test("about a pool that is off in one call each half minute in the end", async () => {
    const names = world.names(100);
    for (const name of names) {
      world.node(name);
      world.says.set(name, "stopped");
    }
    world.start();
    await world.clock.advance(60_000);
    const early = world.calls.length;
    expect(early).toBeLessThanOrEqual(6);
    await world.clock.advance(300_000);
    expect(world.calls.length - early).toBe(10);
    expect(new Set(world.calls.map((names) => names.length))).toEqual(new Set([100]));
    expect(world.kube.writes.filter(({ verb }) => verb === "patch")).toHaveLength(100);
  });

  test("at once again when the Node changes", async () => {
    world.node("a");
    world.start();
    await world.clock.advance(200_000);
    const before = world.calls.length;
    world.ready("a", "False");
    await world.clock.advance(100);
    expect(world.calls.length - before).toBe(1);
  });
});

describe("cloud-node-lifecycle marks", () => {
  test("a stopped machine's Node, and unmarks it when it is Ready, keeping other taints", async () => {
    world.node("a", { spec: { taints: [{ key: "own", value: "v", effect: "NoExecute" }] } });
    world.says.set("a", "stopped");
    world.start();
    await world.clock.advance(50);
    world.ready("a");
    await world.clock.advance(50);
    const own = { key: "own", value: "v", effect: "NoExecute" };
    const version = expect.any(String);
    expect(world.kube.writes.map(({ patch }) => patch?.body)).toEqual([
      { metadata: { uid: "uid-a", resourceVersion: version }, spec: { taints: [own, SHUTDOWN] } },
      { metadata: { uid: "uid-a", resourceVersion: version }, spec: { taints: [own] } },
    ]);
    expect(world.events).toEqual([]);
  });

  test("a Node at once when others write it at the same time, from one look in the cloud", async () => {
    world.node("a");
    world.says.set("a", "stopped");
    let conflicts = 3;
    world.kube.intercept = ({ verb }) => (verb === "patch" && conflicts-- > 0 ? apiError("conflict") : undefined);
    world.start();
    await world.clock.advance(50);
    expect(world.kube.stored(NODES, { name: "a" })).toMatchObject({ spec: { taints: [SHUTDOWN] } });
    expect([world.calls.length, world.kube.writes.length]).toEqual([1, 4]);
  });

  test("no longer a Node whose instance runs again", async () => {
    world.node("a", { spec: { taints: [SHUTDOWN] } });
    world.start();
    await world.clock.advance(50);
    expect(world.kube.stored(NODES, { name: "a" })).toMatchObject({ spec: {} });
    expect(world.kube.writes).toHaveLength(1);
  });

  test.each<{ said: Said }>([
    { said: "stopping" },
    { said: "pending" },
    { said: "unknown" },
    { said: UNAVAILABLE },
    { said: "absent" },
  ])("nothing while the cloud says $said", async ({ said }) => {
    world.node("a", { spec: { taints: [SHUTDOWN] } });
    world.node("b");
    for (const name of ["a", "b"]) world.says.set(name, said);
    world.start();
    await world.clock.advance(20_000);
    expect(world.writes).toEqual([]);
  });
});
