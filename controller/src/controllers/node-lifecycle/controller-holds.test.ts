import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LifecycleHarness, type Said } from "../../../test/support/node/lifecycle-harness.ts";
import { NODES } from "../../kube/resources/node.ts";
import { contractError, ProviderError } from "../../provider/model/errors.ts";

const APPROVAL = "cloudwire.dev/approve-deletion";
const UNAVAILABLE = new ProviderError({ code: "UNAVAILABLE", message: "the cloud is down" });

let world: LifecycleHarness;
beforeEach(() => {
  world = new LifecycleHarness();
});
afterEach(() => world.stop());

describe("cloud-node-lifecycle deletes nothing", () => {
  test.each<{ it: string; said: Said }>([
    { it: "that is another's", said: "notOwned" },
    { it: "while the cloud is down", said: UNAVAILABLE },
    { it: "without rights", said: contractError("CLOUD_PERMISSION_DENIED", "403") },
    { it: "while a machine is too new to be read", said: contractError("NOT_YET_CONSISTENT", "new") },
    { it: "while throttled", said: contractError("RATE_LIMITED", "429") },
  ])("$it", async ({ said }) => {
    for (const name of world.names(200)) {
      world.node(name);
      world.says.set(name, said);
    }
    world.start();
    await world.clock.advance(600_000);
    expect(world.writes).toEqual([]);
    expect(world.calls.length).toBeGreaterThan(0);
  });

  test("of another provider's prefix, and asks nothing", async () => {
    world.node("a", { spec: { providerID: "gce://1" } });
    world.start();
    await world.clock.advance(600_000);
    expect([world.writes, world.events, world.calls]).toEqual([[], [], []]);
  });

  test("when the cloud wavers, until it stands by its word for long enough", async () => {
    world.node("a");
    world.says.set("a", "absent");
    world.start();
    await world.clock.advance(1000);
    world.says.set("a", contractError("RATE_LIMITED", "429"));
    await world.clock.advance(35_000);
    world.says.set("a", "absent");
    await world.clock.advance(20_000);
    expect(world.deletions).toEqual([]);
    await world.clock.advance(45_000);
    expect(world.deletions).toEqual(["a"]);
  });

  test("when the provider is another process at the second look", async () => {
    world.node("a");
    world.says.set("a", "absent");
    world.start();
    await world.clock.advance(20_000);
    world.bootId = "boot-2";
    await world.clock.advance(35_000);
    expect(world.deletions).toEqual([]);
    await world.clock.advance(30_000);
    expect(world.deletions).toEqual(["a"]);
  });

  test("while a cache fills, however slowly, and what was called absent turns up again", async () => {
    const names = world.names(40);
    for (const name of names) {
      world.node(name);
      world.says.set(name, "absent");
    }
    world.start();
    await world.clock.advance(120_000);
    for (const name of names.slice(0, 36)) world.says.set(name, "running");
    await world.clock.advance(55_000);
    for (const name of names.slice(36)) world.says.set(name, "running");
    await world.clock.advance(600_000);
    expect(world.deletions).toEqual([]);
  });

  test("that the cloud calls absent along with one whose kubelet is there again", async () => {
    for (const name of ["a", "b", "c", "d"]) {
      world.node(name);
      world.says.set(name, "absent");
    }
    world.start();
    await world.clock.advance(25_000);
    world.ready("d");
    await world.clock.advance(55_000);
    expect(world.deletions).toEqual([]);
    await world.clock.advance(120_000);
    expect([...world.deletions].toSorted()).toEqual(["a", "b", "c"]);
  });

  test("on absences from before another machine turned up, and then anyway on those after it", async () => {
    for (const name of ["gone", "found"]) {
      world.node(name);
      world.says.set(name, "absent");
    }
    world.start();
    await world.clock.advance(20_000);
    world.says.set("found", "running");
    await world.clock.advance(60_000);
    expect(world.deletions).toEqual([]);
    await world.clock.advance(100_000);
    expect(world.deletions).toEqual(["gone"]);
  });

  test("within a minute of a failure about another Node, and says why", async () => {
    world.node("a");
    world.node("sick");
    world.says.set("a", "absent");
    world.says.set("sick", UNAVAILABLE);
    world.start();
    await world.clock.advance(300_000);
    expect(world.deletions).toEqual([]);
    expect(world.events.filter((text) => text.startsWith("a:"))).toEqual([
      "a: Warning NodeDeletionDelayed Node is not deleted: provider acme failed, or contradicted itself, less than 60 s ago (re-evaluated automatically). To fix: check that the provider is healthy",
    ]);
    world.says.set("sick", "running");
    await world.clock.advance(100_000);
    expect(world.deletions).toEqual(["a"]);
  });

  test.each<{ it: string; said: Said }>([
    { it: "throttled", said: contractError("RATE_LIMITED", "429") },
    { it: "asked about a machine too new", said: contractError("NOT_YET_CONSISTENT", "new") },
    { it: "asked about a malformed ID", said: contractError("PROVIDER_ID_MALFORMED", "acme://?") },
  ])("only while the provider is sick, which it is not when $it", async ({ said }) => {
    world.node("a");
    world.node("other");
    world.says.set("a", "absent");
    world.says.set("other", said);
    world.start();
    await world.clock.advance(31_000);
    expect(world.deletions).toEqual(["a"]);
  });

  test("while the provider is not trusted, and says why once", async () => {
    world.node("a");
    world.says.set("a", "absent");
    world.untrustedReason = "scope changed";
    world.start();
    await world.clock.advance(600_000);
    expect(world.deletions).toEqual([]);
    expect(world.events).toEqual([
      "a: Warning NodeDeletionDelayed Node is not deleted: provider acme: scope changed (re-evaluated automatically). To fix: check that the provider is healthy",
    ]);
    world.untrustedReason = undefined;
    await world.clock.advance(31_000);
    expect(world.deletions).toEqual(["a"]);
  });

  test("when the provider becomes untrusted while the deletion waits for its turn", async () => {
    world.node("a");
    world.says.set("a", "absent");
    const others = world.names(16);
    for (const name of others) {
      world.node(name);
      world.says.set(name, "stopped");
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    world.kube.intercept = ({ verb }) => (verb === "patch" ? promise : undefined);
    world.start();
    await world.clock.advance(31_000);
    world.untrustedReason = "scope changed";
    resolve();
    await world.clock.advance(100);
    expect(world.deletions).toEqual([]);
    expect(world.kube.writes).toHaveLength(16);
  });

  test("twice: what others delete already is neither deleted nor counted", async () => {
    world.node("a");
    world.says.set("a", "absent");
    const stored = world.kube.stored(NODES, { name: "a" });
    const deletionTimestamp = new Date(world.clock.nowMs()).toISOString();
    world.kube.seed(NODES, { ...stored, metadata: { ...Object(stored?.["metadata"]), deletionTimestamp } });
    world.ready("a", "Unknown");
    world.start();
    await world.clock.advance(100_000);
    expect([world.writes, world.events]).toEqual([[], []]);
    expect(await world.metrics.value("cloudwire_node_deletion_circuit_nodes", { provider: "acme" })).toBe(0);
  });

  test("and says it again after half an hour, and at once when the reason is another", async () => {
    world.node("a");
    world.says.set("a", "absent");
    world.untrustedReason = "scope changed";
    world.start();
    await world.clock.advance(1_790_000);
    expect(world.events).toHaveLength(1);
    await world.clock.advance(60_000);
    expect(world.events).toHaveLength(2);
    world.untrustedReason = undefined;
    for (const name of world.names(4)) {
      world.node(name);
      world.says.set(name, "absent");
    }
    await world.clock.advance(60_000);
    expect(world.events.filter((event) => event.startsWith("a: ")).map((event) => event.split(" ")[2])).toEqual([
      "NodeDeletionDelayed",
      "NodeDeletionDelayed",
      "TooManyNodeDeletions",
    ]);
  });

  test("that became Ready while the cloud was asked", async () => {
    world.node("a");
    world.says.set("a", "absent");
    world.start();
    await world.clock.advance(29_000);
    world.ready("a");
    await world.clock.advance(100_000);
    expect(world.writes).toEqual([]);
  });

  test("from readings that stand still, and says so in the end", async () => {
    world.node("a");
    world.says.set("a", "absent");
    world.absence = { observeTimeMs: world.clock.nowMs() };
    world.start();
    await world.clock.advance(600_000);
    expect(world.deletions).toEqual([]);
    expect(world.events).toEqual([
      "a: Warning NodeDeletionDelayed Node is not deleted: 1 of 2 absences, over 0 of 30 s (re-evaluated automatically)",
    ]);
  });
});

describe("the circuit breaker", () => {
  const state = async () => [
    await world.metrics.value("cloudwire_node_deletion_circuit_open", { provider: "acme" }),
    await world.metrics.value("cloudwire_node_deletion_circuit_nodes", { provider: "acme" }),
  ];

  test.each<{ said: Said }>([{ said: "absent" }, { said: "terminated" }])(
    "blocks all deletions before the first, reports it on each Node, and deletes approved ones ($said)",
    async ({ said }) => {
      const names = world.names(40);
      for (const name of names) world.node(name);
      const gone = names.slice(0, 24);
      for (const name of gone) world.says.set(name, said);
      world.start();
      await world.clock.advance(600_000);
      expect(world.deletions).toEqual([]);
      expect(world.events).toHaveLength(24);
      expect(world.events).toContain(
        "n0: Warning TooManyNodeDeletions Node is not deleted: provider acme reports the instances of 24 of 40 Nodes as absent, and at most 4 are deleted within 10 minutes. If the instances no longer exist, approve the deletion: kubectl annotate node n0 cloudwire.dev/approve-deletion=true",
      );
      expect(await state()).toEqual([1, 24]);
      expect(world.log.messages("error")).toHaveLength(1);

      // On all of them, as an operator in a hurry would.
      for (const name of names) world.annotate(name, { [APPROVAL]: "true" });
      await world.clock.advance(60_000);
      expect(world.deletions.toSorted()).toEqual(gone.toSorted());
      expect(await state()).toEqual([0, 0]);
      // What was released without success is not released for ever.
      expect([...world.nodes.lister.list()].map(({ metadata }) => metadata.annotations)).toEqual(
        Array.from({ length: 16 }, () => ({})),
      );
    },
  );

  test("allows what a share allows that was raised while it runs", async () => {
    const names = world.names(20);
    for (const name of names) world.node(name);
    const gone = names.slice(0, 5);
    for (const name of gone) world.says.set(name, "absent");
    world.start();
    await world.clock.advance(300_000);
    expect(world.deletions).toEqual([]);
    world.options.nodeDeletionMaxPercent = 25;
    await world.clock.advance(61_000);
    expect(world.deletions.toSorted()).toEqual(gone);
  });

  test("allows by itself when fewer are gone", async () => {
    const names = world.names(20);
    for (const name of names) world.node(name);
    const gone = names.slice(0, 5);
    for (const name of gone) world.says.set(name, "absent");
    world.start();
    await world.clock.advance(300_000);
    expect(world.deletions).toEqual([]);
    for (const name of gone.slice(0, 2)) world.says.set(name, "running");
    await world.clock.advance(61_000);
    expect(world.deletions.toSorted()).toEqual(gone.slice(2));
  });

  test("no longer counts what another client has deleted", async () => {
    const names = world.names(20);
    for (const name of names) world.node(name);
    for (const name of names.slice(0, 5)) world.says.set(name, "absent");
    world.start();
    // Between two ticks: only the deletions themselves wake anyone.
    await world.clock.advance(42_000);
    expect(await state()).toEqual([1, 5]);
    for (const name of names.slice(0, 2)) world.nodes.delete(name);
    await world.clock.advance(50);
    expect(await state()).toEqual([0, 3]);
  });

  test("counts what went within ten minutes", async () => {
    const names = world.names(20);
    for (const name of names) world.node(name);
    world.start();
    for (const name of names.slice(0, 3)) world.says.set(name, "absent");
    await world.clock.advance(120_000);
    expect(world.deletions).toHaveLength(3);
    world.says.set("n3", "absent");
    await world.clock.advance(400_000);
    expect(world.deletions).toHaveLength(3);
    await world.clock.advance(200_000);
    expect(world.deletions).toHaveLength(4);
  });

  test("measures against all that there were in these ten minutes", async () => {
    const names = world.names(40);
    for (const name of names) world.node(name);
    world.start();
    for (const name of names.slice(0, 2)) world.says.set(name, "absent");
    await world.clock.advance(120_000);
    expect(world.deletions).toHaveLength(2);
    for (const name of names.slice(2, 4)) world.says.set(name, "absent");
    await world.clock.advance(120_000);
    expect(world.deletions).toHaveLength(4);
  });

  test("does not count what the autoscaler takes away", async () => {
    const spec = { taints: [{ key: "ToBeDeletedByClusterAutoscaler", value: "1", effect: "NoSchedule" }] };
    for (const name of world.names(20)) {
      world.node(name, { spec });
      world.says.set(name, "absent");
    }
    world.node("other");
    world.says.set("other", "absent");
    world.start();
    await world.clock.advance(40_000);
    expect(world.deletions).toHaveLength(21);
    expect(await state()).toEqual([0, 1]);
  });
});
