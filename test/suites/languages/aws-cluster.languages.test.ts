import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { at, type Json, listOf } from "../../support/kube.ts";
import type { Program } from "../../support/program.ts";
import { BridgedHarness, BUILD_MS } from "./support/bridged-harness.ts";
import type { EmulatedMachine } from "./support/emulated-cloud.ts";
import { type OwnAws, startOwnAws } from "./support/own-aws.ts";

const CONTROLLER_FLAGS = [
  "--cluster-cidr=10.120.0.0/16",
  "--node-monitor-period=1s",
  "--node-deletion-confirmation-period=1s",
] as const;

/** What has to end, however far the start came. */
const started = new AsyncDisposableStack();
let harness: BridgedHarness;
let aws: OwnAws;
let sidecar: Program;
let controller: Program;
let first: EmulatedMachine;
let second: EmulatedMachine;

beforeAll(async () => {
  harness = started.use(await BridgedHarness.start());
  aws = await startOwnAws(harness);
  first = await aws.cloud.run("us-east-1a");
  second = await aws.cloud.run("us-east-1b");
  await harness.registerNode(first, "10.120.1.0/24");
  await harness.registerNode(second, "10.120.2.0/24");
  sidecar = await aws.startSidecar();
  controller = harness.startController("aws", ...CONTROLLER_FLAGS);
}, BUILD_MS);
afterAll(() => started.disposeAsync());

const targets = async () => (await aws.cloud.loadBalancers()).map((balancer) => balancer.targets);
const nodePortOf = (service: Json): unknown => at(service, "spec", "ports", 0, "nodePort");

// In this order: each test goes on where the one before it ended.
describe("the provider for AWS in a cluster", () => {
  test("initializes nodes with what EC2 says of their machines", async () => {
    for (const machine of [first, second]) {
      const node = await harness.initialized(machine.name);
      expect(at(node, "spec", "providerID")).toBe(`aws:///${machine.zone}/${machine.id}`);
      expect(at(node, "metadata", "labels")).toMatchObject({
        "node.kubernetes.io/instance-type": "m5.large",
        "topology.kubernetes.io/zone": machine.zone,
        "topology.kubernetes.io/region": "us-east-1",
        "topology.k8s.aws/zone-id": expect.stringMatching(/^use1-az\d$/),
      });
      expect(listOf(at(node, "status", "addresses"))).toEqual(
        expect.arrayContaining([
          { type: "InternalIP", address: machine.address },
          { type: "InternalDNS", address: machine.name },
          { type: "Hostname", address: machine.name },
        ]),
      );
    }
  });

  test("gives each node with a range for pods a route in the route table", async () => {
    await harness.becomes("routes", () => aws.cloud.routes(), [
      ["10.120.1.0/24", first.id],
      ["10.120.2.0/24", second.id],
    ]);
    expect(await harness.networkReason(first.name)).toBe("RouteCreated");
  });

  test("gives a Service a network load balancer whose targets are its nodes", async () => {
    const service = await harness.createService("web");
    const address = await harness.addressed("web");
    const [balancer] = await aws.cloud.loadBalancers();
    expect(address).toMatchObject({ hostname: balancer?.address });
    const all = [first.id, second.id].toSorted().map((id) => [id, nodePortOf(service)]);
    await harness.becomes("targets", targets, [all]);
  });

  test("changes nothing at AWS when the controller and the sidecar start again", async () => {
    const before = { state: await aws.cloud.state(), changes: await aws.cloud.changes() };
    await controller.stop();
    await sidecar.stop();
    sidecar = await aws.startSidecar();
    controller = harness.startController("aws", ...CONTROLLER_FLAGS);
    await harness.settled(controller);
    expect({ state: await aws.cloud.state(), changes: await aws.cloud.changes() }).toEqual(before);
  });

  test("initializes 1,000 nodes with at most five requests for machines", async () => {
    await controller.stop();
    const machines = await aws.account.runMachines(aws.vpc, 1000);
    const names = machines.map(({ name }) => name);
    await Promise.all(names.map((name) => harness.registerNode({ id: "", name, zone: "", address: "" })));
    const before = await aws.account.calls("DescribeInstances");
    // The lists that the watch of machines is made of go on beside: one a minute.
    controller = harness.startController(
      "aws",
      "--controllers=cloud-node-controller",
      "--node-monitor-period=10m",
      "--concurrent-node-syncs=250",
    );
    const isOpen = (node: Json): boolean =>
      listOf(at(node, "spec", "taints")).some(({ key }) => key === "node.cloudprovider.kubernetes.io/uninitialized");
    // One page of the Nodes without an instance type is cheap to poll.
    const open = `/api/v1/nodes?limit=1&labelSelector=${encodeURIComponent("!node.kubernetes.io/instance-type")}`;
    await harness.eventually(
      "all nodes to be initialized",
      async () => ((await harness.kube.items(open)).length === 0 ? true : undefined),
      240_000,
    );
    const nodes = await harness.kube.items("/api/v1/nodes");
    const done = new Set(nodes.filter((node) => !isOpen(node)).map((node) => at(node, "metadata", "name")));
    expect(names.filter((name) => !done.has(name))).toEqual([]);
    expect((await aws.account.calls("DescribeInstances")) - before).toBeLessThanOrEqual(5);
    await controller.stop();
    const selector = encodeURIComponent(`kubernetes.io/hostname notin (${first.name},${second.name})`);
    await harness.kube.delete(`/api/v1/nodes?labelSelector=${selector}`);
    controller = harness.startController("aws", ...CONTROLLER_FLAGS);
  }, 600_000);

  test("removes a node whose machine was terminated, with its route and target", async () => {
    await aws.cloud.terminate(first);
    await harness.becomes("nodes", () => harness.nodeNames(), [second.name]);
    await harness.becomes("routes", () => aws.cloud.routes(), [["10.120.2.0/24", second.id]]);
    const service = await harness.kube.get("/api/v1/namespaces/default/services/web");
    await harness.becomes("targets", targets, [[[second.id, nodePortOf(service)]]]);
    expect(await harness.nodeNames()).toEqual([second.name]);
  });

  test("keeps a node whose machine is terminated while AWS throttles everything", async () => {
    await aws.account.throttle(0.001, 1);
    await aws.cloud.terminate(second);
    const refused = await aws.account.throttled();
    await harness.eventually("the cloud to be asked again and again", async () =>
      (await aws.account.throttled()) >= refused + 10 ? true : undefined,
    );
    expect(await harness.nodeNames()).toEqual([second.name]);
    await aws.account.throttle(0, 0);
    await harness.becomes("nodes", () => harness.nodeNames(), []);
  });

  test("leaves nothing behind of a Service that is deleted, nor of the routes", async () => {
    await harness.deleteService("web");
    await harness.becomes("what is left", () => aws.account.orphans(), []);
    await harness.becomes("routes", () => aws.cloud.routes(), []);
    expect(await aws.cloud.loadBalancers()).toEqual([]);
  });
});
