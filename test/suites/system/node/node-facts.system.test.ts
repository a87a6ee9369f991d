import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { ProviderError } from "@cloudwire/provider-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, type Json, listOf } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import { ScriptedProvider } from "../support/providers/scripted-provider.ts";
import { UNINITIALIZED, Harness } from "../support/harness.ts";

const CLAIM = "acme.example.com/claim";
const ZONE = "topology.kubernetes.io/zone";
const BETA_ZONE = "failure-domain.beta.kubernetes.io/zone";
const TYPE = "node.kubernetes.io/instance-type";
const BETA_TYPE = "beta.kubernetes.io/instance-type";
const RECORD = "cloudwire.dev/cloud-labels";
/** The least that the daemon takes. */
const REFRESH_SECONDS = 10;
/** For a refresh on a busy machine. */
const SOON_MS = 60_000;

let controlPlane: ControlPlane;
let harness: Harness;
let provider: ScriptedProvider;
let controller: Program;
/** What has to end, however far the start came. */
const started = new AsyncDisposableStack();

/** One controller for all tests, each of which has Nodes of its own: a refresh is waited for by all of them together. */
beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane({ audit: { users: ["cloudwire"] } });
  started.defer(() => controlPlane.stop());
  harness = started.use(await Harness.start(controlPlane));
  provider = started.use(await ScriptedProvider.start({ socketPath: harness.socket, nodeAnnotationKeys: [CLAIM] }));
  const { path } = await controlPlane.kubeconfigFor("cloudwire", ["system:masters"]);
  controller = harness.startController({
    kubeconfigPath: path,
    args: [`--node-status-update-frequency=${REFRESH_SECONDS}s`, "--leader-elect=false"],
  });
  await controller.said(/Connected to provider/);
}, 60 * 60_000);
afterAll(() => started.disposeAsync());

const node = (name: string) => harness.kube.get(`/api/v1/nodes/${name}`);
const labelsOf = (object: Json) => at(object, "metadata", "labels");
const edit = (name: string, change: object) => harness.kube.patch(`/api/v1/nodes/${name}`, change);

async function register(name: string, parts: { readonly providerID?: string; readonly labels?: object } = {}) {
  const { providerID, labels = {} } = parts;
  await harness.kube.send("DELETE", `/api/v1/nodes/${name}`);
  await harness.kube.create("/api/v1/nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels },
    spec: { providerID, taints: [{ key: UNINITIALIZED, value: "true", effect: "NoSchedule" }] },
  });
}

/** The Node once it is as wanted. */
function becomes(name: string, what: string, isWanted: (found: Json) => boolean): Promise<Json> {
  return eventually(
    `node ${name} ${what}`,
    SOON_MS,
    async () => {
      const found = await node(name);
      return isWanted(found) ? found : undefined;
    },
    async () => `${JSON.stringify(await node(name))}\n${harness.outputs().slice(-4000)}`,
  );
}

/** Waits until the cloud was asked about the Node so many times more. */
async function looks(name: string, count: number): Promise<void> {
  const before = provider.looksAt(name);
  await eventually(`${count} looks at ${name}`, 2 * SOON_MS, () =>
    provider.looksAt(name) >= before + count ? true : undefined,
  );
}

/** Of this Node, not of one that a try before left. */
async function eventsOf(name: string, reason: string): Promise<readonly Json[]> {
  const uid = String(at(await node(name), "metadata", "uid"));
  return harness.kube.items(`/api/v1/events?fieldSelector=involvedObject.uid=${uid},reason=${reason}`);
}

/** The one event of that reason. */
async function eventAbout(name: string, reason: string): Promise<Json> {
  return eventually(`an event ${reason} on ${name}`, SOON_MS, async () => (await eventsOf(name, reason)).at(0));
}

const differing = (field: string) =>
  harness.metric(controller, new RegExp(`^cloudwire_node_differences\\{field="${field}"\\}`));

describe.concurrent("of a real Node", () => {
  test("instance type and addresses follow the cloud, and an edit is repaired", async () => {
    provider.machine("follow", { type: "small", addresses: { InternalIP: ["10.0.0.1"] } });
    await register("follow");
    await harness.initialized("follow");
    await edit("follow", { metadata: { labels: { [TYPE]: "edited" } } });
    await becomes("follow", "to be repaired", (found) => at(labelsOf(found), TYPE) === "small");
    provider.machine("follow", { type: "large", addresses: { InternalIP: ["10.0.0.2"] } });
    const changed = await becomes("follow", "to follow", (found) => at(labelsOf(found), BETA_TYPE) === "large");
    expect(labelsOf(changed)).toMatchObject({ [TYPE]: "large" });
    await becomes("follow", "to have the new address", (found) => {
      const addresses = listOf(at(found, "status", "addresses")).map(({ address }) => address);
      return addresses.length === 1 && addresses[0] === "10.0.0.2";
    });
  });

  test("another zone is reported once and left unchanged until an operator accepts it", async () => {
    provider.machine("moved", { zone: "a" });
    await register("moved");
    await harness.initialized("moved");
    provider.machine("moved", { zone: "b" });
    const event = await eventAbout("moved", "NodeDiffersFromCloud");
    expect(event["message"]).toBe(
      `the cloud reports zone b, but label ${ZONE} is a and is not changed; to accept the change: kubectl label node moved ${ZONE}=b --overwrite`,
    );
    await looks("moved", 2);
    const events = await eventsOf("moved", "NodeDiffersFromCloud");
    expect(events.map((found) => found["count"])).toEqual([1]);
    expect(labelsOf(await node("moved"))).toMatchObject({ [ZONE]: "a", [BETA_ZONE]: "a" });
    expect(await differing("zone")).toBe(1);
    await edit("moved", { metadata: { labels: { [ZONE]: "b" } } });
    await becomes("moved", "to be accepted", (found) => at(labelsOf(found), BETA_ZONE) === "b");
    await eventually("the differences to end", SOON_MS, async () =>
      (await differing("zone")) === 0 ? true : undefined,
    );
  });

  test("a zone that was missing is written", async () => {
    provider.machine("late");
    await register("late");
    await harness.initialized("late");
    provider.machine("late", { zone: "z" });
    const found = await becomes("late", "to have a zone", (one) => at(labelsOf(one), ZONE) === "z");
    expect(labelsOf(found)).toMatchObject({ [BETA_ZONE]: "z" });
  });

  test("labels of the cloud follow it, none is removed, and a user's wins", async () => {
    provider.machine("tagged", { labels: { rack: "r1", own: "cloud", "kubernetes.io/x": "reserved" } });
    await register("tagged", { labels: { own: "user" } });
    const initialized = await harness.initialized("tagged");
    expect(labelsOf(initialized)).toEqual({ rack: "r1", own: "user" });
    expect(at(initialized, "metadata", "annotations", RECORD)).toBe("rack");
    expect((await eventAbout("tagged", "NodeDiffersFromCloud"))["message"]).toMatch(
      /^the cloud reports label own="cloud", but another client has set it to "user"/,
    );
    provider.machine("tagged", { labels: { rack: "r2", slot: "s1" } });
    const changed = await becomes("tagged", "to follow", (found) => at(labelsOf(found), "slot") === "s1");
    expect(labelsOf(changed)).toEqual({ rack: "r2", slot: "s1", own: "user" });
    expect(at(changed, "metadata", "annotations", RECORD)).toBe("rack,slot");
    provider.machine("tagged", { labels: {} });
    await looks("tagged", 2);
    expect(labelsOf(await node("tagged"))).toEqual({ rack: "r2", slot: "s1", own: "user" });
  });

  test("dual-stack addresses are written once, in whatever order they come and whatever kubelet adds", async () => {
    const v4 = { type: "InternalIP", address: "10.0.1.1" } as const;
    const v6 = { type: "InternalIP", address: "fd00::1" } as const;
    provider.machine("dual", { addresses: [v4, v6] });
    await register("dual");
    await harness.initialized("dual");
    const hostname = { type: "Hostname", address: "dual" };
    await harness.kube.send("PATCH", "/api/v1/nodes/dual/status", {
      status: { addresses: [hostname, v6, v4, { $patch: "replace" }] },
    });
    const before = (await writesTo("dual")).length;
    expect(before).toBeGreaterThan(0);
    for (const addresses of [
      [v6, v4],
      [v4, v6],
    ]) {
      provider.machine("dual", { addresses });
      await looks("dual", 2);
    }
    expect(await writesTo("dual")).toHaveLength(before);
    expect(at(await node("dual"), "status", "addresses")).toEqual([hostname, v6, v4]);
  });
});

/** What the controller wrote to the Node. */
async function writesTo(name: string): Promise<readonly string[]> {
  const events = await controlPlane.auditEvents();
  return events
    .filter(
      (event) => event.resource === "nodes" && event.name === name && !["get", "list", "watch"].includes(event.verb),
    )
    .map(({ verb, subresource }) => `${verb} ${subresource}`);
}

describe.concurrent("a wrong provider ID", () => {
  test("is reported with both IDs when the machine of the Node's name is another, and nothing is overwritten", async () => {
    provider.machine("other-name", { id: "i-1" });
    provider.machine("copied", { id: "i-2" });
    await register("copied", { providerID: "acme://i-1" });
    await harness.initialized("copied");
    const event = await eventAbout("copied", "ProviderIDMismatch");
    expect(event["message"]).toMatch(/acme:\/\/i-1, .* name copied has acme:\/\/i-2;/);
    expect(at(await node("copied"), "spec", "providerID")).toBe("acme://i-1");
    await looks("copied", 2);
    expect((await eventsOf("copied", "ProviderIDMismatch")).map(({ count }) => count)).toEqual([1]);
    expect(await differing("providerID")).toBeGreaterThan(0);
  });

  test("is reported when two Nodes have the same", async () => {
    provider.machine("twin", { id: "i-3" });
    await register("twin", { providerID: "acme://i-3" });
    await register("twin-copy", { providerID: "acme://i-3" });
    expect((await eventAbout("twin-copy", "ProviderIDMismatch"))["message"]).toMatch(/^node twin has the same/);
    expect((await eventAbout("twin", "ProviderIDMismatch"))["message"]).toMatch(/^node twin-copy has the same/);
  });

  test("is reported on a Node that waits, when its machine was recreated", async () => {
    provider.machine("recreated", { id: "i-5" });
    await register("recreated", { providerID: "acme://i-4" });
    expect((await eventAbout("recreated", "InitializeNodeFailed"))["message"]).toMatch(
      /acme:\/\/i-4; the instance with the name recreated has acme:\/\/i-5 \(/,
    );
    expect(await harness.metric(controller, /^cloudwire_nodes_uninitialized\{reason="absent"\}/)).toBeGreaterThan(0);
  });
});

describe.concurrent("a Node that waits", () => {
  test("is tried at once when an annotation comes by which its provider finds machines", async () => {
    provider.machine("claimed");
    provider.script = ({ name, annotations }) =>
      name === "claimed" && annotations[CLAIM] === undefined
        ? new ProviderError("FEATURE_UNSUPPORTED", "there is no claim")
        : undefined;
    await register("claimed");
    expect((await eventAbout("claimed", "InitializeNodeFailed"))["message"]).toMatch(
      /there is no claim \(retrying when the Node or the provider changes, or in 30 minutes\)/,
    );
    // Of itself it would be tried again after half an hour.
    await edit("claimed", { metadata: { annotations: { [CLAIM]: "c-1" } } });
    await harness.initialized("claimed", SOON_MS);
  });
});
