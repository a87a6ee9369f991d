import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { BridgedHarness, BUILD_MS } from "../languages/support/bridged-harness.ts";
import { at, type Json, listOf } from "../../support/kube.ts";
import type { Program } from "../../support/program.ts";
import { createTenant } from "./support/real-openstack.ts";
import type { Server, Tenant } from "./support/tenant.ts";

const CONTROLLER_FLAGS = [
  "--cluster-cidr=10.120.0.0/16",
  "--node-monitor-period=1s",
  "--node-deletion-confirmation-period=1s",
] as const;

const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";

/** Octavia makes a load balancer in many steps. */
const PATIENCE_MS = 240_000;

/** What has to end, however far the start came. */
const started = new AsyncDisposableStack();
let harness: BridgedHarness;
let tenant: Tenant;
let sidecar: Program;
let controller: Program;
let first: Server;
let second: Server;

beforeAll(async () => {
  harness = started.use(await BridgedHarness.start());
  tenant = await createTenant(inject("openstack"));
  first = await tenant.createServer("node-1");
  second = await tenant.createServer("node-2");
  await harness.registerNode({ ...first, zone: "" }, "10.120.1.0/24");
  await harness.registerNode({ ...second, zone: "" }, "10.120.2.0/24");
  sidecar = await startSidecar();
  controller = harness.startController("openstack", ...CONTROLLER_FLAGS);
}, BUILD_MS);
afterAll(() => started.disposeAsync());

async function startSidecar(): Promise<Program> {
  const args = [`--endpoint=unix://${harness.directory}/provider.sock`];
  const program = harness.run({ source: "providers/openstack/src/main.ts", args, env: tenant.env });
  await program.said(/^provider ready/m, 60_000);
  return program;
}

/** Address and port of each target, in order. */
const targets = async () =>
  sorted((await tenant.members()).map((member) => `${String(member["address"])}:${String(member["protocol_port"])}`));
const sorted = (texts: readonly string[]) => texts.toSorted((left, right) => left.localeCompare(right));
const targetsOf = (service: Json, ...servers: readonly Server[]) =>
  sorted(servers.map(({ address }) => `${address}:${String(at(service, "spec", "ports", 0, "nodePort"))}`));
const becomes = <T>(what: string, ask: () => Promise<T>, wanted: T) => {
  const text = JSON.stringify(wanted);
  const is = async () => (JSON.stringify(await ask()) === text ? true : undefined);
  return harness.eventually(`${what} to be ${text}`, is, PATIENCE_MS);
};

/** All that the provider may have made or changed, with the times at which it was. */
const state = async () => ({
  balancers: await tenant.octavia("loadbalancers"),
  listeners: await tenant.octavia("listeners"),
  pools: await tenant.octavia("pools"),
  members: await tenant.members(),
  floatingIps: await tenant.floatingIps(),
  routes: await tenant.routes(),
});

// In this order: each test goes on where the one before it ended.
describe("the provider for OpenStack in a cluster", () => {
  test("initializes nodes with what Nova says of their machines", async () => {
    for (const machine of [first, second]) {
      const node = await harness.initialized(machine.name);
      expect(at(node, "spec", "providerID")).toBe(`openstack:///${machine.id}`);
      expect(at(node, "metadata", "labels")).toMatchObject({
        "node.kubernetes.io/instance-type": expect.stringMatching(/-small$/),
        "topology.kubernetes.io/zone": tenant.cloud.zone,
        "topology.kubernetes.io/region": tenant.cloud.region,
      });
      expect(listOf(at(node, "status", "addresses"))).toEqual(
        expect.arrayContaining([
          { type: "InternalIP", address: machine.address },
          { type: "Hostname", address: machine.name },
        ]),
      );
    }
  });

  test("gives each node with a range for pods a route of the router", async () => {
    await becomes("routes", () => tenant.routes(), [
      ["10.120.1.0/24", first.address],
      ["10.120.2.0/24", second.address],
    ]);
    expect(await harness.networkReason(first.name)).toBe("RouteCreated");
  });

  test("gives a Service a load balancer of Octavia whose members are its nodes, at a floating IP", async () => {
    const service = await harness.createService("web");
    const ingress = await harness.eventually(
      "service web to have an address",
      async () => {
        const found = await harness.kube.get("/api/v1/namespaces/default/services/web");
        return listOf(at(found, "status", "loadBalancer", "ingress"))[0];
      },
      PATIENCE_MS,
    );
    const [floating] = await tenant.floatingIps();
    expect(ingress).toMatchObject({ ip: floating?.["floating_ip_address"] });
    const [balancer] = await tenant.octavia("loadbalancers");
    expect(floating).toMatchObject({ port_id: balancer?.["vip_port_id"] });
    expect(await targets()).toEqual(targetsOf(service, first, second));
  });

  test("changes nothing at OpenStack when the controller and the sidecar start again", async () => {
    const statuses = async () => (await tenant.octavia("loadbalancers")).map((each) => each["provisioning_status"]);
    await becomes("load balancers", statuses, ["ACTIVE"]);
    const before = await state();
    await controller.stop();
    await sidecar.stop();
    sidecar = await startSidecar();
    controller = harness.startController("openstack", ...CONTROLLER_FLAGS);
    await harness.settled(controller);
    expect(await state()).toEqual(before);
  });

  test("marks a node whose machine was stopped", async () => {
    await tenant.stopServer(second.id);
    const taint = await harness.eventually(
      "node-2 to be marked as shut down",
      async () => {
        const node = await harness.kube.get(`/api/v1/nodes/${second.name}`);
        return listOf(at(node, "spec", "taints")).find(({ key }) => key === SHUTDOWN);
      },
      PATIENCE_MS,
    );
    expect(taint).toMatchObject({ effect: "NoSchedule" });
    await tenant.startServer(second.id);
  });

  test("removes a node whose machine was deleted, with its route and member", async () => {
    await tenant.deleteServer(first.id);
    await becomes("nodes", () => harness.nodeNames(), [second.name]);
    await becomes("routes", () => tenant.routes(), [["10.120.2.0/24", second.address]]);
    const service = await harness.kube.get("/api/v1/namespaces/default/services/web");
    await becomes("members", targets, targetsOf(service, second));
    expect(await harness.nodeNames()).toEqual([second.name]);
  });

  test("leaves nothing behind of a Service that is deleted, nor of the nodes", async () => {
    await harness.kube.delete("/api/v1/namespaces/default/services/web");
    await becomes("what is left", () => tenant.orphans(), []);
    await tenant.deleteServer(second.id);
    await becomes("nodes", () => harness.nodeNames(), []);
    await becomes("routes", () => tenant.routes(), []);
    expect(await state()).toEqual({
      balancers: [],
      listeners: [],
      pools: [],
      members: [],
      floatingIps: [],
      routes: [],
    });
  });
});
