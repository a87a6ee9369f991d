import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, listOf } from "../../../support/kube.ts";
import { UNINITIALIZED, Harness } from "../support/harness.ts";

let controlPlane: ControlPlane;
let harness: Harness;

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane({
    scheduler: true,
    controllerManager: true,
    audit: { users: ["cloudwire"] },
  });
}, 60 * 60_000);
beforeEach(async () => {
  harness = await Harness.start(controlPlane);
});
afterEach(async ({ task }) => {
  if (task.result?.state === "fail") controlPlane.keepFiles();
  await harness[Symbol.asyncDispose]();
});
afterAll(() => controlPlane.stop());

const pod = (name: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { containers: [{ name: "main", image: "none" }], terminationGracePeriodSeconds: 0 },
});
const POD = "/api/v1/namespaces/default/pods/waits";

describe("cloud-node on a real control plane", () => {
  test("initializes a kubelet's node, and only then a pending pod is let onto it", async () => {
    await harness.createMachines([{ name: "real-a", zone: "north-a", type: "medium" }]);
    await controlPlane.startHollowNode("real-a");
    onTestFinished(() => controlPlane.stopHollowNode("real-a"));
    await harness.kube.create("/api/v1/namespaces/default/pods", pod("waits"));
    await eventually("the pod to be unschedulable", 30_000, async () => {
      const conditions = listOf(at(await harness.kube.get(POD), "status", "conditions"));
      return conditions.find(({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable");
    });
    expect(at(await harness.kube.get(POD), "status", "phase")).toBe("Pending");

    await harness.startSidecar();
    harness.startController();
    const node = await harness.initialized("real-a");
    expect(at(node, "metadata", "labels")).toMatchObject({
      "node.kubernetes.io/instance-type": "medium",
      "beta.kubernetes.io/instance-type": "medium",
      "topology.kubernetes.io/zone": "north-a",
      "failure-domain.beta.kubernetes.io/zone": "north-a",
      "topology.kubernetes.io/region": "north",
      "failure-domain.beta.kubernetes.io/region": "north",
    });
    expect(at(node, "spec", "providerID")).toMatch(/^[a-z]+:\/\/.+/);
    expect(listOf(at(node, "status", "addresses"))).toEqual(
      expect.arrayContaining([{ type: "InternalIP", address: expect.stringMatching(/^127\.10\./) }]),
    );
    await eventually("the pod to run", 30_000, async () =>
      at(await harness.kube.get(POD), "status", "phase") === "Running" ? true : undefined,
    );
    expect(at(await harness.kube.get(POD), "spec", "nodeName")).toBe("real-a");
    await harness.hasEvents("Node", "real-a", "Synced");
    await harness.kube.delete(`${POD}?gracePeriodSeconds=0`);
  });

  test("writes addresses before it lifts the taint, with two writes and one event", async () => {
    const { path } = await controlPlane.kubeconfigFor("cloudwire", ["system:masters"]);
    await harness.createMachines([{ name: "order-a", zone: "south-a" }]);
    await harness.registerNode("order-a");
    await harness.startSidecar();
    harness.startController({ kubeconfigPath: path });
    await harness.initialized("order-a");
    const writes = await eventually("the event to be in the audit log", 20_000, async () => {
      const found = (await controlPlane.auditEvents())
        .filter(({ verb }) => !["get", "list", "watch"].includes(verb))
        .filter(({ resource, name }) => resource === "events" || name === "order-a")
        .filter(({ requestObject }) => at(requestObject, "reason") !== "LeaderElection")
        .map(({ verb, resource, subresource }) => [verb, resource, subresource]);
      return found.some(([, resource]) => resource === "events") ? found : undefined;
    });
    expect(writes).toEqual([
      ["patch", "nodes", "status"],
      ["patch", "nodes", undefined],
      ["create", "events", undefined],
    ]);
  });

  test("initializes 1,000 nodes with at most 20 calls of 50 ms, and refreshes them with as few", async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `n-${String(index).padStart(4, "0")}`);
    await harness.createMachines(names.map((name, index) => ({ name, zone: index % 2 === 0 ? "north-a" : "south-a" })));
    await harness.admin.change({ latency: { "*": { fixedMs: 50, jitterMs: 0 } } });
    for (let from = 0; from < names.length; from += 50) {
      await Promise.all(names.slice(from, from + 50).map((name) => harness.registerNode(name)));
    }
    await harness.startSidecar();
    await harness.admin.resetCalls();
    const controller = harness.startController();
    await eventually("all nodes to be initialized", 120_000, async () => {
      const nodes = await harness.kube.items("/api/v1/nodes?resourceVersion=0");
      const waiting = nodes.filter((node) =>
        listOf(at(node, "spec", "taints")).some(({ key }) => key === UNINITIALIZED),
      );
      return nodes.length === 1000 && waiting.length === 0 ? true : undefined;
    });
    const lookups = await harness.metric(
      controller,
      /^cloudwire_provider_call_duration_seconds_count\{.*method="BatchGetInstances"/,
    );
    expect(lookups).toBeGreaterThan(0);
    expect(lookups).toBeLessThanOrEqual(20);
    const { total } = await harness.admin.calls();
    expect(total).toBeGreaterThan(0);
    expect(total).toBeLessThanOrEqual(20);

    // A new leader reads them all, and again at each tick.
    await controller.stop("SIGTERM");
    await harness.admin.resetCalls();
    harness.startController({ args: ["--node-status-update-frequency=10s"] });
    const lookedUp = () => harness.admin.callsOf("instances.lookup");
    const first = await eventually("the first reading", 60_000, async () => (await lookedUp()) || undefined);
    await eventually("two ticks more", 60_000, async () => ((await lookedUp()) >= first + 2 ? true : undefined));
    expect(await lookedUp()).toBeLessThanOrEqual(20);
  });

  test("loses no node when the sidecar is killed in the middle of a look-up", async () => {
    const names = ["k-1", "k-2", "k-3"];
    await harness.createMachines(names.map((name) => ({ name, zone: "north-a" })));
    const sidecar = await harness.startSidecar();
    const controller = harness.startController();
    await controller.said(/Connected to provider/);
    await harness.admin.change({ latency: { "instances.lookup": { fixedMs: 3000, jitterMs: 0 } } });
    await Promise.all(names.map((name) => harness.registerNode(name)));
    await harness.inFlight("instances.lookup");
    await sidecar.stop("SIGKILL");
    await harness.admin.resetSettings();
    await harness.startSidecar();
    for (const name of names) await harness.initialized(name);
    expect(controller.running).toBe(true);
    expect(await harness.kube.items("/api/v1/nodes")).toHaveLength(3);
  });

  test("leaves a node alone whose machine the cloud does not know, and says so", async () => {
    await harness.startSidecar();
    const controller = harness.startController();
    await controller.said(/Became leader/);
    await harness.registerNode("stranger");
    const reasons = await eventually("an event about the node", 30_000, async () => {
      const found = await harness.eventReasons("Node", "stranger");
      return found.length > 0 ? found : undefined;
    });
    expect(reasons).not.toContain("Synced");
    expect(listOf(at(await harness.kube.get("/api/v1/nodes/stranger"), "spec", "taints"))).toContainEqual(
      expect.objectContaining({ key: UNINITIALIZED }),
    );
  });
});
