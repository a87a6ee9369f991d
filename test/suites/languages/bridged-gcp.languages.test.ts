import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { at, listOf } from "../../support/kube.ts";
import type { Program } from "../../support/program.ts";
import { BridgedHarness, BUILD_MS } from "./support/bridged-harness.ts";
import { EmulatedCloud, type EmulatedMachine } from "./support/emulated-cloud.ts";

const CONTROLLER_FLAGS = [
  "--cluster-cidr=10.120.0.0/16",
  "--node-monitor-period=1s",
  "--node-deletion-confirmation-period=1s",
] as const;

/** What has to end, however far the start came. */
const started = new AsyncDisposableStack();
let harness: BridgedHarness;
let cloud: EmulatedCloud;
let controller: Program;
let first: EmulatedMachine;
let second: EmulatedMachine;

beforeAll(async () => {
  harness = started.use(await BridgedHarness.start());
  const sidecar = await harness.startSidecar({
    name: "gcp",
    args: [`--kubeconfig=${harness.controlPlane.kubeconfigPath}`, "--scope=test-project"],
    env: {},
  });
  const [, url = ""] = await sidecar.said(/fake cloud at (http:\S+)/);
  cloud = new EmulatedCloud(url);
  first = await cloud.run();
  second = await cloud.run();
  await harness.registerNode(first, "10.120.1.0/24");
  await harness.registerNode(second, "10.120.2.0/24");
  controller = harness.startController("gce", ...CONTROLLER_FLAGS);
}, BUILD_MS);
afterAll(() => started.disposeAsync());

const routes = () => cloud.routes();
const targets = async () => (await cloud.loadBalancers()).map((balancer) => balancer.targets);

// In this order: each test goes on where the one before it ended.
describe("the provider of Kubernetes for Google Cloud, bridged", () => {
  test("initializes nodes with what Compute Engine says of their machines", async () => {
    for (const machine of [first, second]) {
      const node = await harness.initialized(machine.name);
      expect(at(node, "spec", "providerID")).toBe(`gce://${machine.id}`);
      expect(at(node, "metadata", "labels")).toMatchObject({
        "node.kubernetes.io/instance-type": "n1-standard-1",
        "topology.kubernetes.io/zone": machine.zone,
        "topology.kubernetes.io/region": "us-central1",
      });
      expect(listOf(at(node, "status", "addresses"))).toEqual(
        expect.arrayContaining([{ type: "InternalIP", address: machine.address }]),
      );
    }
  });

  test("gives each node a route in the network", async () => {
    await harness.becomes("routes", routes, [
      ["10.120.1.0/24", first.name],
      ["10.120.2.0/24", second.name],
    ]);
    for (const { name } of [first, second]) expect(await harness.networkReason(name)).toBe("RouteCreated");
  });

  test("gives a Service a forwarding rule whose target pool has its nodes", async () => {
    const service = await harness.createService("web");
    const uid = String(at(service, "metadata", "uid"));
    const address = await harness.addressed("web");
    const balancers = await cloud.loadBalancers();
    expect(balancers.map(({ name }) => name)).toEqual([`a${uid.replaceAll("-", "")}`.slice(0, 32)]);
    expect(address).toMatchObject({ ip: balancers[0]?.address });
    await harness.becomes("targets", targets, [[first.name, second.name]]);
  });

  test("changes nothing at Google Cloud when the controller starts again", async () => {
    const before = { state: await cloud.state(), changes: await cloud.changes() };
    await controller.stop();
    controller = harness.startController("gce", ...CONTROLLER_FLAGS);
    await harness.settled(controller);
    expect({ state: await cloud.state(), changes: await cloud.changes() }).toEqual(before);
  });

  test("removes a node whose machine was terminated, with its route and target", async () => {
    await cloud.terminate(first);
    await harness.becomes("nodes", () => harness.nodeNames(), [second.name]);
    expect(await harness.nodeNames()).toEqual([second.name]);
    await harness.becomes("routes", routes, [["10.120.2.0/24", second.name]]);
    await harness.becomes("targets", targets, [[second.name]]);
  });

  test("keeps a node whose machine is terminated while Google Cloud answers nothing but errors", async () => {
    await cloud.fail(true);
    await cloud.terminate(second);
    const calls = await cloud.calls();
    await harness.eventually("the cloud to be asked again and again", async () =>
      (await cloud.calls()) >= calls + 10 ? true : undefined,
    );
    expect(await harness.nodeNames()).toEqual([second.name]);
    await cloud.fail(false);
  });

  test("leaves nothing behind of a Service and of a node that are deleted", async () => {
    await harness.deleteService("web");
    expect(await cloud.state()).toMatchObject({ loadBalancers: [], orphans: [] });
    await harness.kube.delete(`/api/v1/nodes/${second.name}`);
    await harness.becomes("routes", routes, []);
  });
});
