import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { at, listOf } from "../../support/kube.ts";
import { LEASE } from "../system/support/lease.ts";
import { UNINITIALIZED, Harness } from "../system/support/harness.ts";

const WAIT_MS = 60_000;
const SERVICE = "/api/v1/namespaces/default/services/web";
const APPROVAL = "cloudwire.dev/approve-deletion";
const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";

let controlPlane: ControlPlane;
let harness: Harness;
let address: string;

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane();
  harness = await Harness.start(controlPlane);
  await harness.startSidecar();
  await harness.startController().said(/Became leader/, WAIT_MS);
  await harness.createMachines([{ name: "node-1", zone: "north-a" }]);
  await harness.registerNode("node-1");
  await harness.initialized("node-1", WAIT_MS);
  await harness.createService("web", 8488);
  address = await harness.addressed("web", WAIT_MS);
}, 60 * 60_000);
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await controlPlane.stop();
});

/** What the guide about recovery and the one about new clusters say, done. */
describe("as the guides say", () => {
  test("a finalizer that someone takes off is put on again, and the load balancer stays", async () => {
    const before = await harness.loadBalancers();
    await harness.kube.patch(SERVICE, { metadata: { finalizers: null } });
    await eventually(
      "the finalizer",
      WAIT_MS,
      async () => {
        const finalizers = at(await harness.kube.get(SERVICE), "metadata", "finalizers");
        return Array.isArray(finalizers) && finalizers.includes(FINALIZER) ? true : undefined;
      },
      () => harness.outputs(),
    );
    expect((await harness.loadBalancers()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  });

  test("a status that someone empties has its address again", async () => {
    await harness.kube.patch(`${SERVICE}/status`, { status: { loadBalancer: { ingress: null } } });
    expect(await harness.addressed("web", WAIT_MS)).toBe(address);
  });

  test("the leader writes a deleted Lease again, with the scope", async () => {
    const leader = at(await harness.kube.get(LEASE), "spec", "holderIdentity");
    await harness.kube.delete(LEASE);
    const lease = await eventually(
      "the Lease with a scope",
      WAIT_MS,
      async () => {
        const found = await harness.kube.find(LEASE);
        return at(found, "metadata", "annotations", "scope.cloudwire.dev/simulated") === undefined ? undefined : found;
      },
      () => harness.outputs(),
    );
    expect(at(lease, "spec", "holderIdentity")).toBe(leader);
    expect(at(lease, "metadata", "annotations")).toMatchObject({ "scope.cloudwire.dev/simulated": "simcloud/system" });
  });

  test("a Node that registered without the taint is initialized once someone puts it on", async () => {
    await harness.createMachines([{ name: "late", zone: "north-a" }]);
    await harness.kube.create("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "late" } });
    await controlPlane.kubectl(["taint", "node", "late", `${UNINITIALIZED}=true:NoSchedule`]);
    const node = await harness.initialized("late", WAIT_MS);
    expect(at(node, "spec", "providerID")).toMatch(/^sim:\/\/north-a\//);
    expect(listOf(at(node, "spec", "taints")).map(({ key }) => key)).not.toContain(UNINITIALIZED);
  });

  test("an approval set on all Nodes is removed from those whose instances exist", async () => {
    await controlPlane.kubectl(["annotate", "nodes", "--all", `${APPROVAL}=true`]);
    const ready = { status: { conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }] } };
    await harness.kube.patch("/api/v1/nodes/node-1/status", ready);
    const annotations = await eventually(
      "the release to go",
      WAIT_MS,
      async () => {
        const found = Object(at(await harness.kube.get("/api/v1/nodes/node-1"), "metadata", "annotations"));
        return APPROVAL in found ? undefined : found;
      },
      () => harness.outputs(),
    );
    expect(Object.keys(annotations)).not.toContain(APPROVAL);
  });

  test("the namespace whose UID is the cluster's identity cannot be deleted", async () => {
    await expect(controlPlane.kubectl(["delete", "namespace", "kube-system"])).rejects.toThrow(/forbidden/);
  });
});
