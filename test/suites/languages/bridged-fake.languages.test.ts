import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { at, listOf } from "../../support/kube.ts";
import { BridgedFake } from "./support/bridged-fake.ts";
import { BridgedHarness, BUILD_MS } from "./support/bridged-harness.ts";

/** What has to end, however far the start came. */
const started = new AsyncDisposableStack();
let harness: BridgedHarness;
let cloud: BridgedFake;

const machine = (number: number) => ({
  type: "small",
  zone: "zone-a",
  region: "region-1",
  labels: { "example.com/rack": `rack-${number}` },
  addresses: [
    { type: "InternalIP", address: `10.0.0.${number}` },
    { type: "ExternalIP", address: `192.0.2.20${number}` },
    { type: "Hostname", address: `node-${number}` },
  ],
});

async function join(number: number): Promise<void> {
  const name = `node-${number}`;
  await cloud.run(name, machine(number));
  await harness.registerNode({ id: name, name, zone: "zone-a", address: "" }, `10.120.${number}.0/24`);
}

/** The instance data that the cloud has, as the Node shows it. */
async function factsOf(number: number): Promise<unknown> {
  const node = await harness.initialized(`node-${number}`);
  const labels = at(node, "metadata", "labels");
  return {
    providerID: at(node, "spec", "providerID"),
    type: at(labels, "node.kubernetes.io/instance-type"),
    zone: at(labels, "topology.kubernetes.io/zone"),
    region: at(labels, "topology.kubernetes.io/region"),
    rack: at(labels, "example.com/rack"),
    addresses: at(node, "status", "addresses"),
  };
}

beforeAll(async () => {
  harness = started.use(await BridgedHarness.start());
  cloud = await BridgedFake.start(harness, { legacy: false });
  await join(1);
  await join(2);
  harness.startController(
    "fake",
    "--cluster-cidr=10.120.0.0/16",
    "--node-monitor-period=1s",
    "--node-deletion-confirmation-period=1s",
    "--route-reconciliation-period=10s",
  );
}, BUILD_MS);
afterAll(() => started.disposeAsync());

const routes = () => cloud.routes();
const targets = () => cloud.targets();

// In this order: each test goes on where the one before it ended.
describe("upstream's fake cloud, bridged", () => {
  test("initializes nodes with all that InstancesV2 says of their machines", async () => {
    for (const number of [1, 2]) {
      const { type, zone, region, addresses } = machine(number);
      const rack = `rack-${number}`;
      expect(await factsOf(number)).toEqual({
        providerID: `fake://node-${number}`,
        type,
        zone,
        region,
        rack,
        addresses,
      });
    }
  });

  test("gives each node a route", async () => {
    await harness.becomes("routes", routes, [
      ["10.120.1.0/24", "node-1"],
      ["10.120.2.0/24", "node-2"],
    ]);
    for (const name of ["node-1", "node-2"]) expect(await harness.networkReason(name)).toBe("RouteCreated");
  });

  test("gives a Service the address of its load balancer", async () => {
    await harness.createService("web", { "fake.example.com/size": "large", "example.com/not-declared": "x" });
    expect(await harness.addressed("web")).toMatchObject({ ip: "192.0.2.1", ipMode: "Proxy" });
    await harness.becomes("targets", targets, [["node-1", "node-2"]]);
    expect(await cloud.loadBalancers()).toMatchObject([{ service: "default/web", ports: [80] }]);
  });

  test("shows the provider the Service and Nodes as Kubernetes has them", async () => {
    const service = await harness.kube.get("/api/v1/namespaces/default/services/web");
    const { ports, externalTrafficPolicy, ipFamilies, type, sessionAffinity } = Object(at(service, "spec"));
    expect(await cloud.givenService()).toMatchObject({
      metadata: {
        name: "web",
        uid: at(service, "metadata", "uid"),
        annotations: { "fake.example.com/size": "large" },
        finalizers: at(service, "metadata", "finalizers"),
      },
      spec: { ports, externalTrafficPolicy, ipFamilies, type, sessionAffinity },
    });
    expect(at(await cloud.givenService(), "metadata", "annotations")).not.toHaveProperty(["example.com/not-declared"]);
    const node = await harness.kube.get("/api/v1/nodes/node-1");
    const { addresses } = Object(at(node, "status"));
    expect(await cloud.givenNode("node-1")).toMatchObject({
      metadata: { name: "node-1", uid: at(node, "metadata", "uid") },
      spec: { providerID: "fake://node-1" },
      status: { addresses },
    });
  });

  test("updates the nodes of a load balancer, and nothing else of it, when one joins", async () => {
    const [before] = await cloud.loadBalancers();
    await join(3);
    await harness.becomes("targets", targets, [["node-1", "node-2", "node-3"]]);
    const [after] = await cloud.loadBalancers();
    expect(at(after, "ensured")).toBe(at(before, "ensured"));
    expect(Number(at(after, "updated"))).toBeGreaterThan(Number(at(before, "updated")));
  });

  test("goes on with Instances and Zones when the sidecar starts again without InstancesV2", async () => {
    await cloud.sidecar.stop();
    cloud = await BridgedFake.start(harness, { legacy: true });
    await join(4);
    const { type, zone, region, addresses } = machine(4);
    // Instances has no labels of the cloud's own.
    expect(await factsOf(4)).toEqual({ providerID: "fake://node-4", type, zone, region, rack: undefined, addresses });
    expect(await cloud.called()).toContain("InstanceID");
    await harness.becomes("targets", targets, [["node-1", "node-2", "node-3", "node-4"]]);
    expect(await cloud.loadBalancers()).toMatchObject([{ ip: "192.0.2.1" }]);
  });

  test("removes a node whose machine is gone, with its route and target", async () => {
    await cloud.terminate("node-1");
    const left = ["node-2", "node-3", "node-4"];
    await harness.becomes("nodes", () => harness.nodeNames(), left);
    expect(await harness.nodeNames()).toEqual(left);
    await harness.becomes("targets", targets, [left]);
    await harness.becomes("destinations", async () => (await routes()).map(([destination]) => destination), [
      "10.120.2.0/24",
      "10.120.3.0/24",
      "10.120.4.0/24",
    ]);
  });

  test("keeps a node whose machine is gone while the provider answers errors", async () => {
    await cloud.failLookUps(true);
    await cloud.terminate("node-2");
    const before = await cloud.lookUps();
    await harness.eventually("the provider to be asked again and again", async () =>
      (await cloud.lookUps()) >= before + 10 ? true : undefined,
    );
    expect(await harness.nodeNames()).toEqual(["node-2", "node-3", "node-4"]);
    await cloud.failLookUps(false);
    await harness.becomes("nodes", () => harness.nodeNames(), ["node-3", "node-4"]);
  });

  test("leaves nothing behind of a Service and of nodes that are deleted", async () => {
    await harness.deleteService("web");
    expect(await cloud.loadBalancers()).toEqual([]);
    for (const name of ["node-3", "node-4"]) await harness.kube.delete(`/api/v1/nodes/${name}`);
    await harness.becomes("routes", routes, []);
    expect(listOf(await harness.kube.items("/api/v1/nodes"))).toEqual([]);
  });
});
