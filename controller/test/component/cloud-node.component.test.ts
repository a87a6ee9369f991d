import { afterEach, describe, expect, test } from "vitest";
import { contractFailure } from "../support/provider/scripted-provider.ts";
import { eventually } from "../support/poll.ts";
import { Harness, type HarnessOptions } from "./support/harness.ts";
import { initializedNode, masked, registeredNode } from "./support/objects.ts";

let harness: Harness;

async function start(options: HarnessOptions = {}): Promise<Harness> {
  harness = await Harness.start(options);
  return harness;
}

afterEach(async () => harness[Symbol.asyncDispose]());

const SYNCED = "Normal Synced Node synced successfully";
const INTERNAL = 1;
const EXTERNAL = 2;

function read(name: string): unknown {
  return harness.cluster.read("v1", "Node", "", name);
}

describe("cloud-node initializes", () => {
  test("a node with addresses first, then everything else in one patch, and one event", async () => {
    await start({
      objects: [
        registeredNode("a", {
          labels: { "topology.kubernetes.io/zone": "kubelet", own: "kept" },
          taints: [
            { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" },
            { key: "example.com/reserved", value: "x", effect: "NoExecute", timeAdded: "2026-11-21T11:00:00Z" },
          ],
        }),
      ],
    });
    harness.cloud.machine("a", {
      zone: "eu-1a",
      region: "eu-1",
      instanceType: "m5",
      addresses: [
        { type: INTERNAL, address: "10.0.0.1" },
        { type: INTERNAL, address: "fd00::1" },
        { type: EXTERNAL, address: "192.0.2.1" },
      ],
      labels: { "acme.example.com/rack": "r1", own: "cloud", "kubernetes.io/x": "dropped" },
    });
    await harness.startProvider();
    const manager = harness.startManager().startNodes();
    await harness.quiet();

    const address = (type: string, value: string) => ({ type, address: value });
    const addresses = [
      address("InternalIP", "10.0.0.1"),
      address("InternalIP", "fd00::1"),
      address("ExternalIP", "192.0.2.1"),
      address("Hostname", "a"),
    ];
    const status = JSON.stringify({
      metadata: { uid: "U" },
      status: { addresses: [...addresses, { $patch: "replace" }] },
    });
    const reserved = {
      key: "example.com/reserved",
      value: "x",
      effect: "NoExecute",
      timeAdded: "2026-11-21T11:00:00Z",
    };
    const labels = {
      "beta.kubernetes.io/instance-type": "m5",
      "node.kubernetes.io/instance-type": "m5",
      "failure-domain.beta.kubernetes.io/zone": "eu-1a",
      "topology.kubernetes.io/zone": "eu-1a",
      "failure-domain.beta.kubernetes.io/region": "eu-1",
      "topology.kubernetes.io/region": "eu-1",
      "acme.example.com/rack": "r1",
    };
    const rest = JSON.stringify({
      metadata: {
        uid: "U",
        resourceVersion: "V",
        labels,
        annotations: { "cloudwire.dev/cloud-labels": "acme.example.com/rack" },
      },
      spec: { providerID: "acme://a", taints: [reserved] },
    });
    expect(harness.writes.map(masked)).toEqual([`PATCH nodes/a/status ${status}`, `PATCH nodes/a ${rest}`]);
    expect(read("a")).toMatchObject({
      metadata: { labels: { ...labels, own: "kept" } },
      spec: { providerID: "acme://a", taints: [reserved] },
      status: { addresses },
    });
    expect(harness.cloud.calls.map(({ about }) => about)).toEqual(["a"]);
    expect(harness.events("a")).toEqual([
      SYNCED,
      expect.stringMatching(/^Warning NodeDiffersFromCloud the cloud reports label own="cloud", but another client/),
    ]);
    const metric = "node_controller_cloud_provider_taint_removal_delay_seconds_count 1";
    expect(await manager.metrics.text()).toContain(metric);
  });

  test("a node that has nothing to gain but the loss of its taint with one write", async () => {
    await start({ objects: [registeredNode("a", { providerID: "acme://a" })] });
    harness.cloud.machine("a");
    await harness.startProvider();
    harness.startManager().startNodes();
    await harness.quiet();
    expect(harness.writes.map(masked)).toEqual([
      'PATCH nodes/a {"metadata":{"uid":"U","resourceVersion":"V"},"spec":{"taints":null}}',
    ]);
    expect(harness.events("a")).toEqual([SYNCED]);
  });

  test("a node that the cloud shows late, saying after a while what it waits for", async () => {
    await start({ objects: [registeredNode("a")] });
    await harness.startProvider();
    harness.startManager().startNodes();
    await eventually("it was said", () => harness.events("a").length > 0);
    expect(harness.writes).toEqual([]);
    harness.cloud.machine("a");
    await eventually("it is initialized", () => harness.events("a").includes(SYNCED));
    await harness.quiet();
    expect(harness.writes).toHaveLength(1);
    expect(harness.events("a").map((event) => event.replace(/ x\d+$/, ""))).toEqual([
      expect.stringMatching(
        /^Warning InitializeNodeFailed Node is not initialized: the cloud has no instance with the name a \(retrying/,
      ),
      SYNCED,
    ]);
  });

  test("a node once the cloud can be read again", async () => {
    await start({ objects: [registeredNode("a")] });
    harness.cloud.machine("a");
    harness.cloud.before = () => {
      throw contractFailure("CLOUD_UNAVAILABLE", "the cloud answers 503");
    };
    await harness.startProvider();
    const manager = harness.startManager().startNodes();
    await eventually("it was tried twice", () => manager.nodes.queue.failures("a") >= 2);
    expect([harness.writes, harness.events("a")]).toEqual([[], []]);
    harness.cloud.before = () => undefined;
    await eventually("the event is there", () => harness.events("a").length > 0);
    expect(harness.writes).toHaveLength(1);
  });

  test("nodes that failed together, together", async () => {
    const names = Array.from({ length: 400 }, (_, index) => `n${index}`);
    await start({ objects: names.map((name) => registeredNode(name)) });
    for (const name of names) harness.cloud.machine(name);
    harness.cloud.before = () => {
      throw contractFailure("CLOUD_UNAVAILABLE", "the cloud answers 503");
    };
    await harness.startProvider();
    const manager = harness.startManager().startNodes();
    await eventually("each was tried 8 times", () => names.every((name) => manager.nodes.queue.failures(name) >= 8));
    harness.cloud.before = () => undefined;
    harness.cloud.calls.length = 0;
    await eventually("all are initialized", () => harness.writes.length === names.length);
    // 2 batches of 200 would do.
    expect(harness.cloud.calls.length).toBeLessThanOrEqual(6);
  });

  test("nodes that waited for the provider, in one batch as soon as it is there", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    await start({ objects: names.map((name) => registeredNode(name)) });
    for (const name of names) harness.cloud.machine(name);
    const manager = harness.startManager().startNodes();
    await eventually("every node was tried", () => names.every((name) => manager.nodes.queue.failures(name) > 3));
    await harness.startProvider();
    await eventually("all are initialized", () => harness.writes.length === names.length);
    expect(harness.cloud.calls).toHaveLength(1);
    await harness.quiet();
    expect(names.map((name) => harness.events(name))).toEqual(names.map(() => [SYNCED]));
  });

  test("1,000 nodes with at most 20 calls to a cloud that takes 50 ms", async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `n${index}`);
    await start({ objects: names.map((name) => registeredNode(name)) });
    for (const name of names) harness.cloud.machine(name, { addresses: [{ type: INTERNAL, address: "10.0.0.1" }] });
    harness.cloud.before = () => new Promise((resolve) => setTimeout(resolve, 50));
    await harness.startProvider();
    harness.startManager().startNodes();
    await eventually("all are initialized", () => harness.writes.length === 2000, 50_000);
    expect(harness.cloud.calls.length).toBeLessThanOrEqual(20);
    expect(new Set(harness.cloud.calls.flatMap(({ about }) => about.split(","))).size).toBe(1000);
  });
});

describe("cloud-node leaves alone", () => {
  test("a node of another provider", async () => {
    await start({ objects: [registeredNode("a", { providerID: "gce://1" })] });
    await harness.startProvider();
    harness.startManager().startNodes();
    await harness.quiet();
    expect([harness.writes, harness.cloud.calls, harness.events("a")]).toEqual([[], [], []]);
  });

  test("a node whose wanted address the cloud does not know, and says so on it", async () => {
    const annotations = { "alpha.kubernetes.io/provided-node-ip": "10.0.0.7" };
    await start({ objects: [registeredNode("a", { annotations })] });
    harness.cloud.machine("a", { addresses: [{ type: INTERNAL, address: "10.0.0.1" }] });
    await harness.startProvider();
    harness.startManager().startNodes();
    const why =
      "Warning InitializeNodeFailed Node is not initialized: annotation alpha.kubernetes.io/provided-node-ip: 10.0.0.7 is not an address of this instance in the cloud (its addresses: InternalIP 10.0.0.1, Hostname a) (retrying within 5 minutes). To fix: start the kubelet with one of the instance's addresses as --node-ip, or without --node-ip";
    await eventually("it was said", () => harness.events("a").length > 0);
    expect(harness.events("a").map((event) => event.replace(/ x\d+$/, ""))).toEqual([why]);
    expect(harness.writes).toEqual([]);
    harness.cloud.machine("a", { addresses: [{ type: INTERNAL, address: "10.0.0.7" }] });
    await eventually("it is initialized", () => harness.events("a").includes(SYNCED));
    expect(harness.writes.map((write) => write.split(" ", 2).join(" "))).toEqual([
      "PATCH nodes/a/status",
      "PATCH nodes/a",
    ]);
  });

  test("labels and addresses of an initialized node that are as they should be", async () => {
    await start({
      objects: [
        initializedNode("a", {
          labels: { "failure-domain.beta.kubernetes.io/zone": "z", "topology.kubernetes.io/zone": "z" },
        }),
      ],
    });
    harness.cloud.machine("a", { zone: "z" });
    await harness.startProvider();
    harness.startManager().startNodes();
    await harness.quiet();
    expect([harness.writes, harness.events("a"), harness.cloud.calls.length]).toEqual([[], [], 1]);
  });

  test("the zone of an initialized node, and says that the cloud has another", async () => {
    await start({ objects: [initializedNode("a", { labels: { "topology.kubernetes.io/zone": "old" } })] });
    harness.cloud.machine("a", { zone: "new" });
    await harness.startProvider();
    harness.startManager().startNodes();
    await harness.quiet();
    expect([harness.writes, harness.cloud.calls.length]).toEqual([[], 1]);
    expect(harness.events("a")).toEqual([
      "Warning NodeDiffersFromCloud the cloud reports zone new, but label topology.kubernetes.io/zone is old and is not changed; to accept the change: kubectl label node a topology.kubernetes.io/zone=new --overwrite",
    ]);
  });
});

describe("cloud-node on an initialized node", () => {
  test("lets addresses follow the cloud with the batch of the start", async () => {
    await start({
      objects: ["a", "b", "c"].map((name) =>
        initializedNode(name, { addresses: [{ type: "InternalIP", address: "10.9.9.9" }] }),
      ),
    });
    for (const name of ["a", "b"])
      harness.cloud.machine(name, { addresses: [{ type: INTERNAL, address: "10.0.0.1" }] });
    await harness.startProvider();
    harness.startManager().startNodes();
    await harness.quiet();
    const patch = {
      metadata: { uid: "U" },
      status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }, { $patch: "replace" }] },
    };
    expect(harness.writes.map(masked).toSorted()).toEqual(
      ["a", "b"].map((name) => `PATCH nodes/${name}/status ${JSON.stringify(patch)}`),
    );
    // A missing instance may have been recreated: its name is queried.
    expect(harness.cloud.calls.slice(1).map(({ about }) => about)).toEqual(["c"]);
  });

  test("makes the newer label follow the older when a user edits it", async () => {
    const labels = { "failure-domain.beta.kubernetes.io/zone": "a", "topology.kubernetes.io/zone": "edited" };
    await start({ objects: [initializedNode("a", { labels })] });
    await harness.startProvider();
    harness.startManager().startNodes();
    await harness.quiet();
    expect(harness.writes.map(masked)).toEqual([
      'PATCH nodes/a {"metadata":{"uid":"U","resourceVersion":"V","labels":{"topology.kubernetes.io/zone":"a"}}}',
    ]);
  });
});

describe("cloud-node under a race", () => {
  /** Seeds over the node between the two writes, as another writer would. */
  function meddle(change: () => void): void {
    let done = false;
    harness.intercept = ({ method, path }) => {
      if (!done && method === "PATCH" && path === "/api/v1/nodes/a") {
        done = true;
        change();
      }
      return { kind: "pass" };
    };
  }

  test("keeps a taint that another client added concurrently", async () => {
    await start({ objects: [registeredNode("a")] });
    const uid = uidOf("a");
    harness.cloud.machine("a", { addresses: [{ type: INTERNAL, address: "10.0.0.1" }] });
    await harness.startProvider();
    const kept = { key: "example.com/late", effect: "NoExecute" };
    meddle(() => {
      const late = registeredNode("a", {
        taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" }, kept],
        addresses: [
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "Hostname", address: "a" },
        ],
      });
      harness.cluster.seed({ ...late, metadata: { name: "a", uid } });
    });
    harness.startManager().startNodes();
    await harness.quiet();
    expect(read("a")).toMatchObject({ spec: { providerID: "acme://a", taints: [kept] } });
    expect(harness.writes.map((write) => write.split(" ", 2).join(" "))).toEqual([
      "PATCH nodes/a/status",
      "PATCH nodes/a",
      "PATCH nodes/a",
    ]);
    expect(harness.cloud.calls).toHaveLength(1);
    expect(harness.events("a")).toEqual([SYNCED]);
  });

  test("does not give a recreated node the machine of the one before", async () => {
    await start({ objects: [registeredNode("a")] });
    harness.cloud.machine("a", { providerId: "acme://old" });
    await harness.startProvider();
    meddle(() => {
      harness.cloud.machine("a", { providerId: "acme://new" });
      harness.cluster.seed({ ...registeredNode("a"), metadata: { name: "a", uid: "another-uid" } });
    });
    harness.startManager().startNodes();
    await harness.quiet();
    expect(read("a")).toMatchObject({ metadata: { uid: "another-uid" }, spec: { providerID: "acme://new" } });
    expect(harness.events("a")).toEqual([SYNCED]);
  });

  test("needs nothing more of a node that was deleted", async () => {
    await start({ objects: [registeredNode("a")] });
    harness.cloud.machine("a");
    await harness.startProvider();
    harness.intercept = async ({ method }) => {
      if (method === "PATCH") await harness.user("DELETE", "nodes/a");
      return { kind: "pass" };
    };
    const manager = harness.startManager().startNodes();
    await harness.quiet();
    expect(harness.writes).toHaveLength(1);
    expect([harness.events("a"), manager.nodes.queue.failures("a")]).toEqual([[], 0]);
  });
});

function uidOf(name: string): string {
  const node = harness.cluster.read("v1", "Node", "", name);
  return /"uid":"([^"]+)"/.exec(JSON.stringify(node))?.[1] ?? "";
}
