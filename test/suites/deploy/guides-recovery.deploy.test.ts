import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { at, listOf } from "../../support/kube.ts";
import { LEASE } from "../system/support/lease.ts";
import { UNINITIALIZED, World } from "../system/support/world.ts";

const WAIT_MS = 60_000;
const SERVICE = "/api/v1/namespaces/default/services/web";
const APPROVAL = "cloudwire.dev/approve-deletion";
const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";

let controlPlane: ControlPlane;
let world: World;
let address: string;

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane();
  world = await World.start(controlPlane);
  await world.startSidecar();
  await world.startController().said(/Became leader/, WAIT_MS);
  await world.createMachines([{ name: "node-1", zone: "north-a" }]);
  await world.registerNode("node-1");
  await world.initialized("node-1", WAIT_MS);
  await world.createService("web", 8488);
  address = await world.addressed("web", WAIT_MS);
}, 60 * 60_000);
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await controlPlane.stop();
});

/** What the guide about recovery and the one about new clusters say, done. */
describe("as the guides say", () => {
  test("a finalizer that someone takes off is put on again, and the load balancer stays", async () => {
    const before = await world.loadBalancers();
    await world.kube.patch(SERVICE, { metadata: { finalizers: null } });
    await eventually(
      "the finalizer",
      WAIT_MS,
      async () => {
        const finalizers = at(await world.kube.get(SERVICE), "metadata", "finalizers");
        return Array.isArray(finalizers) && finalizers.includes(FINALIZER) ? true : undefined;
      },
      () => world.outputs(),
    );
    expect((await world.loadBalancers()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  });

  test("a status that someone empties has its address again", async () => {
    await world.kube.patch(`${SERVICE}/status`, { status: { loadBalancer: { ingress: null } } });
    expect(await world.addressed("web", WAIT_MS)).toBe(address);
  });

  test("the leader writes a deleted Lease again, with the scope", async () => {
    const leader = at(await world.kube.get(LEASE), "spec", "holderIdentity");
    await world.kube.delete(LEASE);
    const lease = await eventually(
      "the Lease with a scope",
      WAIT_MS,
      async () => {
        const found = await world.kube.find(LEASE);
        return at(found, "metadata", "annotations", "scope.cloudwire.dev/simulated") === undefined ? undefined : found;
      },
      () => world.outputs(),
    );
    expect(at(lease, "spec", "holderIdentity")).toBe(leader);
    expect(at(lease, "metadata", "annotations")).toMatchObject({ "scope.cloudwire.dev/simulated": "simcloud/system" });
  });

  test("a Node that registered without the taint is initialized once someone puts it on", async () => {
    await world.createMachines([{ name: "late", zone: "north-a" }]);
    await world.kube.create("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "late" } });
    await controlPlane.kubectl(["taint", "node", "late", `${UNINITIALIZED}=true:NoSchedule`]);
    const node = await world.initialized("late", WAIT_MS);
    expect(at(node, "spec", "providerID")).toMatch(/^sim:\/\/north-a\//);
    expect(listOf(at(node, "spec", "taints")).map(({ key }) => key)).not.toContain(UNINITIALIZED);
  });

  test("an approval set on all Nodes is removed from those whose instances exist", async () => {
    await controlPlane.kubectl(["annotate", "nodes", "--all", `${APPROVAL}=true`]);
    const ready = { status: { conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }] } };
    await world.kube.patch("/api/v1/nodes/node-1/status", ready);
    const annotations = await eventually(
      "the release to go",
      WAIT_MS,
      async () => {
        const found = Object(at(await world.kube.get("/api/v1/nodes/node-1"), "metadata", "annotations"));
        return APPROVAL in found ? undefined : found;
      },
      () => world.outputs(),
    );
    expect(Object.keys(annotations)).not.toContain(APPROVAL);
  });

  test("the namespace whose UID is the cluster's identity cannot be deleted", async () => {
    await expect(controlPlane.kubectl(["delete", "namespace", "kube-system"])).rejects.toThrow(/forbidden/);
  });
});
