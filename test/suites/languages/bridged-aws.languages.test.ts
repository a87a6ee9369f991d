import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { at, listOf } from "../../support/kube.ts";
import type { Program } from "../../support/program.ts";
import { BridgedHarness, BUILD_MS } from "./support/bridged-harness.ts";
import { type EmulatedAws, startAws } from "./support/emulated-aws.ts";
import type { EmulatedMachine } from "./support/emulated-cloud.ts";

const NETWORK_LOAD_BALANCER = { "service.beta.kubernetes.io/aws-load-balancer-type": "nlb" } as const;
const CONTROLLER_FLAGS = [
  "--cluster-cidr=10.120.0.0/16",
  "--node-monitor-period=1s",
  "--node-deletion-confirmation-period=1s",
] as const;

/** What has to end, however far the start came. */
const started = new AsyncDisposableStack();
let harness: BridgedHarness;
let aws: EmulatedAws;
let sidecar: Program;
let controller: Program;
let first: EmulatedMachine;
let second: EmulatedMachine;

beforeAll(async () => {
  harness = started.use(await BridgedHarness.start());
  aws = await startAws(harness);
  first = await aws.cloud.run("us-east-1a");
  second = await aws.cloud.run("us-east-1b");
  await harness.registerNode(first, "10.120.1.0/24");
  // No range for pods: with two routes to machines ListRoutes of the provider always fails (test/programs/bridged/README.md).
  await harness.registerNode(second);
  sidecar = await harness.startSidecar(aws.sidecar);
  controller = harness.startController("aws", ...CONTROLLER_FLAGS);
}, BUILD_MS);
afterAll(() => started.disposeAsync());

const routes = () => aws.cloud.routes();
const targets = async () => (await aws.cloud.loadBalancers()).map((balancer) => balancer.targets);

// In this order: each test goes on where the one before it ended.
describe("the provider of Kubernetes for AWS, bridged", () => {
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

  test("gives a node with a range for pods a route in the route table", async () => {
    await harness.becomes("routes", routes, [["10.120.1.0/24", first.id]]);
    expect(await harness.networkReason(first.name)).toBe("RouteCreated");
  });

  test("gives a Service a network load balancer whose targets are its nodes", async () => {
    const service = await harness.createService("web", NETWORK_LOAD_BALANCER);
    const nodePort = at(service, "spec", "ports", 0, "nodePort");
    const uid = String(at(service, "metadata", "uid"));
    const address = await harness.addressed("web");
    const balancers = await aws.cloud.loadBalancers();
    expect(balancers.map(({ name }) => name)).toEqual([`a${uid.replaceAll("-", "")}`.slice(0, 32)]);
    expect(address).toMatchObject({ hostname: balancers[0]?.address });
    await harness.becomes("targets", targets, [[first.id, second.id].toSorted().map((id) => [id, nodePort])]);
  });

  test("ensures the Service once, which leaves AWS as it is, when the controller starts again", async () => {
    const before = { state: await aws.cloud.state(), changes: await aws.cloud.changes() };
    // Upstream's code has no dry run, so that only an Ensure shows whether the load balancer matches. It writes in one call.
    const expected = { ...before, changes: before.changes + 1 };
    await controller.stop();
    controller = harness.startController("aws", ...CONTROLLER_FLAGS);
    await harness.settled(controller);
    await harness.becomes("changes at AWS", () => aws.cloud.changes(), expected.changes);
    expect({ state: await aws.cloud.state(), changes: await aws.cloud.changes() }).toEqual(expected);
  });

  test("leaves AWS as it is when the sidecar starts again", async () => {
    const before = await aws.cloud.state();
    await sidecar.stop();
    sidecar = await harness.startSidecar(aws.sidecar);
    await controller.stop();
    controller = harness.startController("aws", ...CONTROLLER_FLAGS);
    await harness.settled(controller);
    expect(await aws.cloud.state()).toEqual(before);
  });

  test("removes a node whose machine was terminated, with its route and target", async () => {
    await aws.cloud.terminate(first);
    await harness.becomes("nodes", () => harness.nodeNames(), [second.name]);
    expect(await harness.nodeNames()).toEqual([second.name]);
    await harness.becomes("routes", routes, []);
    const service = await harness.kube.get("/api/v1/namespaces/default/services/web");
    await harness.becomes("targets", targets, [[[second.id, at(service, "spec", "ports", 0, "nodePort")]]]);
  });

  test("keeps a node whose machine is terminated while AWS answers nothing but errors", async () => {
    await aws.cloud.fail(true);
    await aws.cloud.terminate(second);
    const calls = await aws.cloud.calls();
    await harness.eventually("the cloud to be asked again and again", async () =>
      (await aws.cloud.calls()) >= calls + 10 ? true : undefined,
    );
    expect(await harness.nodeNames()).toEqual([second.name]);
    await aws.cloud.fail(false);
  });

  test("leaves nothing behind of a Service that is deleted", async () => {
    await harness.deleteService("web");
    expect(await aws.cloud.loadBalancers()).toEqual([]);
  });
});
