import { afterEach, describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, listOf } from "../../../support/kube.ts";
import { eachHarness } from "../support/each-harness.ts";
import { fetchText, NodeServers } from "../support/node-servers.ts";
import type { Harness } from "../support/harness.ts";

const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers";
const web = "/api/v1/namespaces/default/services/web";

let harness: Harness;
let servers: NodeServers;

eachHarness((fresh) => {
  harness = fresh;
  servers = new NodeServers();
});
afterEach(async () => {
  await servers[Symbol.asyncDispose]();
});

async function joinNode(name: string): Promise<void> {
  await harness.createMachines([{ name, zone: "north-a" }]);
  await harness.registerNode(name);
  await harness.initialized(name);
}

async function onlyLoadBalancerId(): Promise<string> {
  const all = await harness.loadBalancers();
  expect(all).toHaveLength(1);
  return all[0]?.id ?? "";
}

async function targetsAre(...names: readonly string[]): Promise<void> {
  const id = await onlyLoadBalancerId();
  await eventually(
    `targets to be ${names.join(", ")}`,
    30_000,
    async () => ((await harness.targetNames(id)).join() === names.join() ? true : undefined),
    () => harness.outputs(),
  );
}

describe("service-lb on a real control plane", () => {
  test("gives a Service an address that its nodes answer, follows the nodes, and leaves nothing behind", async () => {
    await harness.startSidecar();
    harness.startController();
    await joinNode("web-1");
    await joinNode("web-2");
    const created = await harness.createService("web", 8181);
    const address = await harness.addressed("web");
    expect(at(await harness.kube.get(web), "metadata", "finalizers")).toEqual([FINALIZER]);
    expect(at(await harness.kube.get(web), "status", "loadBalancer", "ingress", 0, "ipMode")).toBe("Proxy");
    await targetsAre("web-1", "web-2");

    const nodePort = Number(at(created, "spec", "ports", 0, "nodePort"));
    for (const node of await harness.kube.items("/api/v1/nodes")) {
      const internal = listOf(at(node, "status", "addresses")).find(({ type }) => type === "InternalIP");
      await servers.answer(String(at(node, "metadata", "name")), String(internal?.["address"]), nodePort);
    }
    const answers = new Set<string | undefined>();
    for (let count = 0; count < 8; count += 1) answers.add(await fetchText(address, 8181));
    expect(answers).toEqual(new Set(["web-1", "web-2"]));

    await joinNode("web-3");
    await targetsAre("web-1", "web-2", "web-3");
    await harness.kube.patch("/api/v1/nodes/web-2", { metadata: { labels: { [EXCLUDE]: "" } } });
    await targetsAre("web-1", "web-3");
    await harness.kube.delete("/api/v1/nodes/web-1");
    await targetsAre("web-3");
    await harness.kube.patch("/api/v1/nodes/web-2", { metadata: { labels: { [EXCLUDE]: "false" } } });
    await targetsAre("web-2", "web-3");
    expect(await onlyLoadBalancerId()).toBeDefined();

    await harness.admin.resetCalls();
    await harness.kube.delete(web);
    await eventually("the Service to be gone", 30_000, async () =>
      (await harness.kube.find(web)) === undefined ? true : undefined,
    );
    expect(await harness.loadBalancers()).toEqual([]);
    expect(await harness.admin.callsOf("loadBalancers.delete")).toBeGreaterThan(0);
    const steps = ["EnsuringLoadBalancer", "EnsuredLoadBalancer", "UpdatedLoadBalancer"] as const;
    await harness.hasEvents("Service", "web", ...steps, "DeletingLoadBalancer", "DeletedLoadBalancer");
  });

  test("deletes the load balancer when the Service is no longer of its type", async () => {
    await harness.startSidecar();
    harness.startController();
    await joinNode("turn-1");
    await harness.createService("web", 8182);
    await harness.addressed("web");
    await harness.kube.patch(web, { spec: { type: "ClusterIP" } });
    await eventually("finalizer and address to go", 30_000, async () => {
      const service = await harness.kube.get(web);
      const left = [at(service, "metadata", "finalizers"), at(service, "status", "loadBalancer", "ingress")];
      return left.every((value) => value === undefined) ? true : undefined;
    });
    expect(await harness.loadBalancers()).toEqual([]);
  });

  test("leaves a Service of another class alone", async () => {
    await harness.startSidecar();
    const controller = harness.startController();
    await joinNode("class-1");
    await harness.createService("other", 8183, { loadBalancerClass: "example.com/other" });
    await harness.createService("web", 8184);
    await harness.addressed("web");
    const other = await harness.kube.get("/api/v1/namespaces/default/services/other");
    expect([at(other, "metadata", "finalizers"), at(other, "status", "loadBalancer", "ingress")]).toEqual([
      undefined,
      undefined,
    ]);
    expect(await harness.loadBalancers()).toHaveLength(1);
    expect(controller.running).toBe(true);
  });

  test.each(["before", "after"] as const)(
    "ends with exactly one load balancer when the sidecar is killed mid-Ensure, %s the cloud has made it",
    async (phase) => {
      const sidecar = await harness.startSidecar();
      harness.startController();
      await joinNode("mid-1");
      // "after": the cloud carries the call out and then does not answer; "before": it hangs first and makes nothing.
      const fault = await harness.admin.addFault({ kind: "hang", operation: "loadBalancers.create", phase, count: 1 });
      await harness.createService("web", 8185);
      await eventually("the call to have struck", 20_000, async () => {
        const faults = await harness.admin.faults();
        return faults.every(({ id, strikes }) => id !== fault.id || strikes > 0) ? true : undefined;
      });
      await sidecar.stop("SIGKILL");
      await harness.admin.clearFaults();
      await harness.startSidecar();
      const address = await harness.addressed("web", 60_000);
      const all = await harness.loadBalancers();
      expect(all.map((one) => one.address)).toEqual([address]);
      await targetsAre("mid-1");
    },
  );

  test("ends with exactly one load balancer when the controller dies between the cloud's answer and the status write", async () => {
    const subject = { kind: "User", name: "cloudwire", apiGroup: "rbac.authorization.k8s.io" };
    const role = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    const binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    await harness.kube.create(role, {
      metadata: { name: "status-writer" },
      rules: [{ apiGroups: [""], resources: ["services/status"], verbs: ["patch"] }],
    });
    await harness.kube.create(role, {
      metadata: { name: "rest" },
      rules: [
        { apiGroups: [""], resources: ["namespaces", "nodes", "services"], verbs: ["get", "list", "watch"] },
        { apiGroups: [""], resources: ["nodes", "nodes/status"], verbs: ["patch"] },
        { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
        { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] },
      ],
    });
    for (const name of ["rest", "status-writer"]) {
      await harness.kube.create(binding, {
        metadata: { name },
        roleRef: { kind: "ClusterRole", name, apiGroup: "rbac.authorization.k8s.io" },
        subjects: [subject],
      });
    }
    const { path } = await harness.controlPlane.kubeconfigFor("cloudwire");
    await harness.startSidecar();
    const controller = harness.startController({ kubeconfigPath: path, args: ["--leader-elect=false"] });
    await joinNode("gap-1");
    await harness.admin.change({ latency: { "loadBalancers.create": { fixedMs: 3000, jitterMs: 0 } } });
    await harness.createService("web", 8186);
    await harness.inFlight("loadBalancers.create");
    // The finalizer is there; from here on no write of the controller can reach the Service.
    expect(at(await harness.kube.get(web), "metadata", "finalizers")).toEqual([FINALIZER]);
    await harness.kube.delete(`${binding}/status-writer`);
    await eventually("the cloud to have answered", 20_000, async () =>
      (await harness.loadBalancers()).length === 1 ? true : undefined,
    );
    await controller.said(/forbidden|403/, 30_000);
    await controller.stop("SIGKILL");
    expect(at(await harness.kube.get(web), "status", "loadBalancer", "ingress")).toBeUndefined();

    await harness.admin.resetSettings();
    await harness.kube.create(binding, {
      metadata: { name: "status-writer" },
      roleRef: { kind: "ClusterRole", name: "status-writer", apiGroup: "rbac.authorization.k8s.io" },
      subjects: [subject],
    });
    harness.startController({ kubeconfigPath: path, args: ["--leader-elect=false"] });
    const address = await harness.addressed("web", 30_000);
    expect((await harness.loadBalancers()).map((one) => one.address)).toEqual([address]);
  });
});
