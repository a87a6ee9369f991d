import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MINUTE_MS, NodeHarness, UNINITIALIZED } from "../../../test/support/node/node-harness.ts";
import { apiError } from "../../../test/support/kube/fake-kube.ts";
import { contractError } from "../../provider/model/errors.ts";
import { WAIT_REMEDIES } from "./events.ts";

let world: NodeHarness;
beforeEach(() => {
  world = new NodeHarness();
});
afterEach(() => world[Symbol.asyncDispose]());

const askedAtMs = () => world.calls.map(({ atMs }) => atMs);
const waiting = (reason: string) => world.value("cloudwire_nodes_uninitialized", { reason });

/** What a look-up waits for others (instance-batcher.ts). */
const WINDOW_MS = 15;

describe("cloud-node initializes", () => {
  test("with addresses first, and leaves the Node alone after that", async () => {
    world.machine("a", { zone: "z", addresses: [{ type: "InternalIP", address: "10.0.0.1" }] });
    world.register("a", {}, {}, []);
    world.start();
    await world.pass(1000);
    expect(world.writes).toEqual([
      'nodes/a/status {"metadata":{"uid":"uid-a"},"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}]}}',
      expect.stringContaining('"topology.kubernetes.io/zone":"z"'),
    ]);
    expect(world.said).toEqual(["Synced Node synced successfully"]);
    expect(world.calls.map(({ asked }) => asked)).toEqual([["a"]]);
  });
});

const PROVIDED = { "alpha.kubernetes.io/provided-node-ip": "10.0.0.7" };
const ADDRESS = { type: "InternalIP", address: "10.0.0.7" };
const NO_ADDRESS =
  "InitializeNodeDelayed Node is not initialized yet: the cloud reports no IP address for the instance (retrying within 10 seconds). To fix: check that the instance gets an IP address and that the cloud reports it; some clouds need a guest agent in the instance; --node-address-timeout limits the wait";

describe("cloud-node waits for an IP address", () => {
  test.each([
    { it: "nothing", addresses: [] },
    { it: "its host name", addresses: [{ type: "Hostname", address: "a" }] },
    { it: "a link-local address", addresses: [{ type: "InternalIP", address: "fe80::1" }] },
    { it: "its DNS names", addresses: [{ type: "InternalDNS", address: "a.internal" }] },
  ])("of an instance with $it, says why, and is done soon after (case N-5)", async ({ addresses }) => {
    world.machine("a", { addresses });
    world.register("a", {}, {}, []);
    world.start();
    await world.pass(14_000);
    expect([world.writes, world.said]).toEqual([[], []]);
    await world.pass(60_000);
    expect([world.writes, world.said]).toEqual([[], [NO_ADDRESS]]);
    world.change("a", { addresses: [...addresses, ADDRESS] });
    await world.pass(10_100);
    expect(world.said).toEqual([NO_ADDRESS, "Synced Node synced successfully"]);
  });

  test("that its kubelet was configured to use, and asks for it often (case N-5)", async () => {
    world.machine("a");
    world.register("a", {}, { annotations: PROVIDED }, [ADDRESS]);
    world.start();
    await world.pass(120_000);
    world.change("a", { addresses: [ADDRESS] });
    await world.pass(10_100);
    expect(world.said).toContain("Synced Node synced successfully");
  });

  test("for five minutes, then reports that it has none, and asks again each 30 s until it has (case N-5)", async () => {
    world.machine("a");
    world.register("a", {}, {}, []);
    world.start();
    await world.pass(299_000);
    expect(world.said).toEqual([NO_ADDRESS]);
    await world.pass(12_000);
    expect(world.said).toEqual([
      NO_ADDRESS,
      "Synced Node synced successfully",
      "NodeDiffersFromCloud the cloud reports no IP address for the instance",
    ]);
    const before = world.calls.length;
    await world.pass(90_000);
    expect(world.calls.length - before).toBe(3);
    world.change("a", { addresses: [ADDRESS] });
    await world.pass(31_000);
    expect(world.writes.at(-1)).toContain(ADDRESS.address);
    const after = world.calls.length;
    await world.pass(120_000);
    expect(world.calls.length - after).toBeLessThan(2);
  });

  test("as long again for a Node that registers again under its name, or gets the taint again (case N-5)", async () => {
    world.machine("a");
    world.register("a", {}, {}, []);
    world.start();
    await world.pass(290_000);
    world.remove("a");
    world.register("a", {}, { uid: "another" }, []);
    await world.pass(250_000);
    expect(world.said).not.toContain("Synced Node synced successfully");
    world.edit("a", { spec: { taints: [] } });
    await world.pass(60_000);
    world.edit("a", { spec: { taints: [{ key: UNINITIALIZED, value: "true", effect: "NoSchedule" }] } });
    await world.pass(250_000);
    expect(world.said).not.toContain("Synced Node synced successfully");
    await world.pass(60_000);
    expect(world.said).toContain("Synced Node synced successfully");
  });

  test("not at all when its kubelet has one and the cloud reports none (case N-5)", async () => {
    world.machine("a");
    world.register("a");
    world.start();
    await world.pass(1000);
    expect(world.said).toEqual(["Synced Node synced successfully"]);
  });
});

describe("cloud-node tries again", () => {
  test.each([
    ["CLOUD_CREDENTIALS_INVALID", [0, 1, 3, 7, 12]],
    ["QUOTA_EXCEEDED", [0, 1, 3, 7, 15]],
    ["PROVIDER_ID_MALFORMED", [0]],
  ] as const)("after %s as slowly as the contract says", async (reason, minutes) => {
    world.failure = contractError(reason, "m");
    world.register("a");
    world.start();
    await world.pass(15 * MINUTE_MS + 1000);
    expect(askedAtMs().map((ms) => Math.floor(ms / MINUTE_MS))).toEqual(minutes);
  });

  test("at once when a new process of the provider is there, though the failure was final", async () => {
    world.failure = contractError("CAPABILITY_ABSENT", "m");
    world.register("a");
    world.start();
    await world.pass(MINUTE_MS);
    world.providerReady();
    await world.pass(WINDOW_MS);
    expect(askedAtMs()).toEqual([WINDOW_MS, MINUTE_MS + WINDOW_MS]);
  });

  test("at once when an annotation changes by which the provider finds machines, and for no other", async () => {
    world.annotationKeys = ["acme.example.com/claim"];
    world.failure = contractError("PROVIDER_ID_MALFORMED", "m");
    world.register("a");
    world.start();
    await world.pass(MINUTE_MS);
    world.edit("a", { metadata: { annotations: { other: "x" } } });
    await world.pass(MINUTE_MS);
    expect(world.calls).toHaveLength(1);
    world.edit("a", { metadata: { annotations: { "acme.example.com/claim": "x" } } });
    await world.pass(MINUTE_MS);
    expect(askedAtMs()).toEqual([WINDOW_MS, 2 * MINUTE_MS + WINDOW_MS]);
  });

  test("at least every five minutes for a machine that does not exist", async () => {
    world.register("a");
    world.start();
    await world.pass(60 * MINUTE_MS);
    const gapsMs = askedAtMs().map((atMs, index, all) => atMs - (all[index - 1] ?? 0));
    expect(Math.max(...gapsMs)).toBe(5 * MINUTE_MS + WINDOW_MS);
  });

  test("with the queue's back-off while the cloud is away", async () => {
    world.failure = contractError("CLOUD_UNAVAILABLE", "m");
    world.register("a");
    world.start();
    await world.pass(100);
    expect(askedAtMs()).toEqual([15, 35, 60, 95]);
  });
});

describe("cloud-node says why a Node waits", () => {
  test("after two minutes of an outage, and then once in half an hour", async () => {
    world.failure = contractError("CLOUD_CREDENTIALS_INVALID", "the key has expired");
    world.register("a");
    world.start();
    await world.pass(2 * MINUTE_MS);
    expect([await waiting("provider"), world.said]).toEqual([1, []]);
    await world.pass(20 * MINUTE_MS);
    const said = `InitializeNodeDelayed Node is not initialized yet: the key has expired (retrying within 5 minutes). To fix: ${WAIT_REMEDIES.provider}`;
    expect(world.said).toEqual([said]);
    await world.pass(20 * MINUTE_MS);
    expect(world.said).toEqual([said, said]);
  });

  test("immediately when only an operator can fix it, once per message", async () => {
    world.machine("a", { zone: "no zone" });
    world.register("a");
    world.start();
    await world.pass(10 * MINUTE_MS);
    world.change("a", { zone: "worse zone" });
    await world.pass(10 * MINUTE_MS);
    expect(world.said).toEqual([
      `InitializeNodeFailed Node is not initialized: the cloud's zone "no zone" is not a valid label value (retrying within 5 minutes). To fix: ${WAIT_REMEDIES.labels}`,
      `InitializeNodeFailed Node is not initialized: the cloud's zone "worse zone" is not a valid label value (retrying within 5 minutes). To fix: ${WAIT_REMEDIES.labels}`,
    ]);
    expect(await waiting("labels")).toBe(1);
  });

  test("when the machine of its name has another provider ID", async () => {
    world.machine("new", { name: "a" });
    world.register("a", { providerID: "acme://old" });
    world.start();
    await world.pass(MINUTE_MS);
    expect(world.said).toEqual([
      `InitializeNodeFailed Node is not initialized: the cloud has no instance with the provider ID acme://old; the instance with the name a has acme://new (retrying within 5 minutes). To fix: ${WAIT_REMEDIES.absent}`,
    ]);
    expect(world.writes).toEqual([]);
  });

  test("when the API server refuses the write for two minutes", async () => {
    world.machine("a");
    world.kube.intercept = () => apiError("forbidden");
    world.register("a");
    world.start();
    await world.pass(MINUTE_MS);
    expect([await waiting("write"), world.said]).toEqual([1, []]);
    await world.pass(5 * MINUTE_MS);
    expect(world.said).toEqual([
      `InitializeNodeDelayed Node is not initialized yet: fake forbidden (retrying within 5 minutes). To fix: ${WAIT_REMEDIES.write}`,
    ]);
  });

  test("in the metric until it waits no longer", async () => {
    world.register("a");
    world.start();
    await world.pass(MINUTE_MS);
    expect(await waiting("absent")).toBe(1);
    world.machine("a");
    await world.pass(5 * MINUTE_MS);
    expect(await waiting("absent")).toBe(0);
    expect(world.said.at(-1)).toBe("Synced Node synced successfully");
  });
});

describe("cloud-node leaves a Node alone that no provider owns", () => {
  const SAID = `InitializeNodeFailed Node is not initialized: no provider has owned it for 5 min: no provider has the prefix of other://1 (retrying when the Node or a provider changes). To fix: ${WAIT_REMEDIES.unowned}`;
  const counted = async () => [await world.value("cloudwire_nodes_unowned"), await waiting("unowned")];

  beforeEach(() => {
    world.register("a", { providerID: "other://1" });
    world.start();
  });

  test("counts it, and says so once it has waited for long", async () => {
    await world.pass(4 * MINUTE_MS);
    expect([await counted(), world.said]).toEqual([[1, 1], []]);
    await world.pass(25 * MINUTE_MS);
    expect([await counted(), world.said]).toEqual([[1, 1], [SAID]]);
    expect(world.writes).toEqual([]);
    expect(world.calls).toEqual([]);
  });

  test.each<[string, () => void]>([
    ["is initialized by another client", () => world.edit("a", { spec: { taints: [] } })],
    ["goes", () => world.remove("a")],
  ])("and no longer counts it when it %s", async (_, happens) => {
    await world.pass(MINUTE_MS);
    happens();
    await world.pass(10 * MINUTE_MS);
    expect([await counted(), world.said]).toEqual([[0, 0], []]);
  });
});
