import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MINUTE_MS, NodeHarness, REFRESH_MS } from "../../../test/support/node/node-harness.ts";
import { apiError } from "../../../test/support/kube/fake-kube.ts";
import { contractError } from "../../provider/model/errors.ts";

let world: NodeHarness;
beforeEach(() => {
  world = new NodeHarness();
});
afterEach(() => world[Symbol.asyncDispose]());

const V4 = { type: "InternalIP", address: "10.0.0.1" };
const V6 = { type: "InternalIP", address: "fd00::1" };
const ZONE = "topology.kubernetes.io/zone";
const BETA_ZONE = "failure-domain.beta.kubernetes.io/zone";
const TYPE = "node.kubernetes.io/instance-type";
const differing = (field: string) => world.value("cloudwire_node_differences", { field });
/** What a look-up waits for others, and time to write. */
const MOMENT_MS = 100;

describe("cloud-node refreshes", () => {
  test("again before the next tick when the addresses could not be written, without asking the cloud again", async () => {
    world.machine("a", { addresses: [V4] });
    world.settled("a");
    let failures = 2;
    world.kube.intercept = () => (failures-- > 0 ? apiError("transient") : undefined);
    world.start();
    await world.pass(1000);
    expect(world.node("a").status.addresses).toEqual([V4]);
    expect(world.calls).toHaveLength(1);
  });

  test("once a tick when all is well", async () => {
    world.machine("a");
    world.settled("a");
    world.start();
    await world.pass(1000);
    world.providerReady();
    await world.pass(2 * REFRESH_MS);
    expect(world.calls.map(({ atMs }) => Math.floor(atMs / REFRESH_MS))).toEqual([0, 1, 2]);
  });

  test("again when the provider is back, if it could not say", async () => {
    world.failure = contractError("CLOUD_UNAVAILABLE", "m");
    world.machine("a", { addresses: [V4] });
    world.settled("a");
    world.start();
    await world.pass(1000);
    world.failure = undefined;
    world.providerReady();
    await world.pass(MOMENT_MS);
    expect(world.node("a").status.addresses).toEqual([V4]);
  });

  test("writes nothing while a dual-stack list comes in any order, whatever kubelet added", async () => {
    world.machine("a", { addresses: [V4, V6] });
    world.settled("a", {}, [{ type: "Hostname", address: "a" }, V6, V4]);
    world.start();
    await world.pass(REFRESH_MS + 1000);
    world.change("a", { addresses: [V6, V4] });
    await world.pass(REFRESH_MS);
    expect(world.calls).toHaveLength(3);
    expect(world.writes).toEqual([]);
  });

  test("reads 1,000 nodes in full batches, and none twice in a tick", async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `n${index}`);
    for (const name of names) {
      world.machine(name);
      world.settled(name);
    }
    world.start();
    await world.pass(REFRESH_MS + 1000);
    expect(world.calls.map(({ asked }) => asked.length)).toEqual([1000, 1000]);
  });
});

describe("a tick of refreshes", () => {
  test("never overlaps the next, however slow the cloud is", async () => {
    await using slow = new NodeHarness({ maxBatchSize: 10, refreshMs: 10_000 });
    slow.callMs = 25_000;
    const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
    for (const name of names) {
      slow.machine(name);
      slow.settled(name);
    }
    slow.start();
    await slow.pass(100_000);
    const under = (atMs: number) => slow.calls.filter((call) => call.atMs <= atMs && atMs < call.atMs + slow.callMs);
    const atOnce = slow.calls.map(({ atMs }) => under(atMs).flatMap(({ asked }) => asked));
    expect(atOnce.length).toBeGreaterThan(15);
    expect(atOnce.filter((asked) => new Set(asked).size < asked.length)).toEqual([]);
  });
});

describe("cloud-node keeps labels", () => {
  test("of an instance type that follows the cloud", async () => {
    world.machine("a", { instanceType: "small" });
    world.register("a");
    world.start();
    await world.pass(1000);
    world.change("a", { instanceType: "large" });
    await world.pass(REFRESH_MS);
    expect(world.node("a").metadata.labels).toEqual({ [TYPE]: "large", "beta.kubernetes.io/instance-type": "large" });
    expect(world.said).toEqual(["Synced Node synced successfully"]);
  });

  test("and repairs an edit at once, without asking the cloud, also while it is away", async () => {
    world.machine("a", { instanceType: "small" });
    world.register("a");
    world.start();
    await world.pass(1000);
    world.failure = contractError("CLOUD_UNAVAILABLE", "m");
    world.edit("a", { metadata: { labels: { [TYPE]: "edited" } } });
    await world.pass(MOMENT_MS);
    expect(world.node("a").metadata.labels[TYPE]).toBe("small");
    expect(world.calls).toHaveLength(1);
  });

  test("and repairs labels that another client keeps overwriting at most every 30 s", async () => {
    world.machine("a", { instanceType: "small" });
    world.register("a");
    world.start();
    await world.pass(1000);
    for (let second = 0; second < 50; second += 1) {
      world.edit("a", { metadata: { labels: { [TYPE]: `edited-${second}` } } });
      await world.pass(1000);
    }
    const repairs = world.writes.filter((write) => write.includes('"labels":{"node.kubernetes.io/instance-type"'));
    expect(repairs).toHaveLength(2);
    await world.pass(MINUTE_MS);
    expect(world.node("a").metadata.labels[TYPE]).toBe("small");
  });

  test("of an existing zone, and reports another zone once until an operator accepts it", async () => {
    world.machine("a", { zone: "b" });
    world.settled("a", { labels: { [ZONE]: "a", [BETA_ZONE]: "a" } });
    world.start();
    await world.pass(3 * REFRESH_MS);
    expect(world.said).toEqual([
      `NodeDiffersFromCloud the cloud reports zone b, but label ${ZONE} is a and is not changed; to accept the change: kubectl label node a ${ZONE}=b --overwrite`,
    ]);
    expect([await differing("zone"), world.writes]).toEqual([1, []]);
    world.edit("a", { metadata: { labels: { [ZONE]: "b" } } });
    await world.pass(MOMENT_MS);
    expect(world.node("a").metadata.labels).toEqual({ [ZONE]: "b", [BETA_ZONE]: "b" });
    expect([await differing("zone"), world.said.length]).toEqual([0, 1]);
  });

  test("of a recreated Node, without the old differences", async () => {
    world.machine("a", { zone: "b" });
    world.settled("a", { labels: { [ZONE]: "a", [BETA_ZONE]: "a" } });
    world.start();
    await world.pass(1000);
    expect(await differing("zone")).toBe(1);
    world.failure = contractError("CLOUD_UNAVAILABLE", "m");
    world.register("a", {}, { uid: "another" });
    await world.pass(MOMENT_MS);
    expect(await differing("zone")).toBe(0);
  });

  test("of a zone by the policy of the flag", async () => {
    await using following = new NodeHarness({ topologyPolicy: "follow" });
    following.machine("a", { zone: "b" });
    following.settled("a", { labels: { [ZONE]: "a", [BETA_ZONE]: "a" } });
    following.start();
    await following.pass(1000);
    expect(following.node("a").metadata.labels).toEqual({ [ZONE]: "b", [BETA_ZONE]: "b" });
  });

  test("that the cloud adds, follows and does not send any more, and no user's", async () => {
    world.machine("a", { labels: { rack: "r1", own: "cloud" } });
    world.register("a", {}, { labels: { own: "user" } });
    world.start();
    await world.pass(1000);
    expect(world.node("a").metadata).toMatchObject({
      labels: { own: "user", rack: "r1" },
      annotations: { "cloudwire.dev/cloud-labels": "rack" },
    });
    await world.restart();
    world.change("a", { labels: { rack: "r2", own: "cloud" } });
    await world.pass(REFRESH_MS);
    expect(world.node("a").metadata.labels).toEqual({ own: "user", rack: "r2" });
    world.change("a", { labels: {} });
    await world.pass(REFRESH_MS);
    expect(world.node("a").metadata.labels).toEqual({ own: "user", rack: "r2" });
  });

  test("that no Node gets are logged once", async () => {
    for (const name of ["a", "b"]) {
      world.machine(name, { labels: { "kubernetes.io/x": name } });
      world.settled(name);
    }
    world.start();
    await world.pass(3 * REFRESH_MS);
    expect(world.log.messages("warn")).toEqual(["Dropped a label of the cloud for all Nodes"]);
  });

  test("plans again when another client changed the Node in the meantime", async () => {
    world.machine("a", { labels: { rack: "r1" } });
    world.settled("a");
    world.isLagging = true;
    world.edit("a", { metadata: { labels: { rack: "user" } } });
    world.start();
    await world.pass(1000);
    world.release();
    await world.pass(MINUTE_MS);
    expect(world.node("a").metadata.labels).toEqual({ rack: "user" });
    expect(await differing("labels")).toBe(1);
  });
});

describe("cloud-node reports a provider ID mismatch", () => {
  const mismatches = () => world.said.filter((said) => said.startsWith("ProviderIDMismatch"));

  test("when another machine has the Node's name, asked for once", async () => {
    world.machine("1", { name: "b" });
    world.machine("2", { name: "a" });
    world.settled("a");
    world.edit("a", { spec: { providerID: "acme://1" } });
    world.start();
    await world.pass(3 * REFRESH_MS);
    expect(mismatches()).toEqual([expect.stringContaining("acme://1, which has another name in the cloud")]);
    expect(mismatches()).toEqual([expect.stringContaining("the instance with the name a has acme://2;")]);
    expect(await differing("providerID")).toBe(1);
    expect(world.calls.flatMap(({ asked }) => asked).filter((asked) => asked === "a")).toHaveLength(1);
    expect(world.node("a").spec.providerID).toBe("acme://1");
  });

  test("not when no machine has the Node's name", async () => {
    world.machine("1", { name: "otherwise" });
    world.settled("a");
    world.edit("a", { spec: { providerID: "acme://1" } });
    world.start();
    await world.pass(3 * REFRESH_MS);
    expect([mismatches(), await differing("providerID")]).toEqual([[], undefined]);
  });

  test("when another instance was created under its name", async () => {
    world.settled("a");
    world.start();
    await world.pass(1000);
    expect(mismatches()).toEqual([]);
    world.machine("new", { name: "a" });
    await world.pass(REFRESH_MS);
    expect(mismatches()).toEqual([expect.stringContaining("acme://a, which the cloud does not have")]);
    expect(world.writes).toEqual([]);
  });

  test("when two Nodes have the same, on both, until one goes", async () => {
    world.machine("1");
    for (const name of ["a", "b"]) {
      world.settled(name);
      world.edit(name, { spec: { providerID: "acme://1" } });
    }
    world.start();
    await world.pass(REFRESH_MS + 1000);
    expect(mismatches().toSorted()).toEqual([
      expect.stringContaining("node a has the same provider ID acme://1"),
      expect.stringContaining("node b has the same provider ID acme://1"),
    ]);
    expect(await differing("providerID")).toBe(2);
    world.remove("b");
    await world.pass(REFRESH_MS);
    expect(await differing("providerID")).toBe(0);
  });
});

describe("cloud-node orders addresses again", () => {
  test("as soon as the annotation asks for it", async () => {
    world.machine("a", { addresses: [V4, V6] });
    world.settled("a", {}, [V4, V6]);
    world.start();
    await world.pass(1000);
    world.edit("a", { metadata: { annotations: { "alpha.kubernetes.io/provided-node-ip": "fd00::1,10.0.0.1" } } });
    await world.pass(MOMENT_MS);
    expect(world.node("a").status.addresses).toEqual([V6, V4]);
    expect(world.calls).toHaveLength(1);
  });

  test("and says so when the cloud does not have what it asks for", async () => {
    world.machine("a", { addresses: [V4] });
    world.settled("a", { annotations: { "alpha.kubernetes.io/provided-node-ip": "10.0.0.7" } }, [V4]);
    world.start();
    await world.pass(3 * REFRESH_MS);
    expect(world.said).toEqual([
      expect.stringMatching(/^NodeDiffersFromCloud .*10\.0\.0\.7 is not an address of this instance/),
    ]);
    expect([await differing("addresses"), world.writes]).toEqual([1, []]);
  });
});
