import { beforeEach, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, type Json, listOf } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import { fetchPage, freePort } from "../../../support/secure-page.ts";
import { eachHarness } from "../support/each-harness.ts";
import { causeOf, explain, explained, explainedBy, LOOPBACK, page, reasonsOf } from "../support/explained.ts";
import { UNINITIALIZED, type Harness } from "../support/harness.ts";

let harness: Harness;
let controller: Program;

eachHarness((fresh) => {
  harness = fresh;
});
beforeEach(async () => {
  await harness.startSidecar();
  controller = harness.startController({ args: [LOOPBACK, "--cluster-cidr=10.120.0.0/16"] });
  await controller.said(/Became leader/);
});

test("explain reports a Node, its route and a Service that are well, and their timeline", async () => {
  await harness.createMachines([{ name: "well-1", zone: "north-a" }]);
  await harness.kube.create("/api/v1/nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "well-1" },
    spec: {
      podCIDR: "10.120.1.0/24",
      podCIDRs: ["10.120.1.0/24"],
      taints: [{ key: UNINITIALIZED, value: "true", effect: "NoSchedule" }],
    },
  });
  await harness.initialized("well-1");
  await harness.createService("web", 8282);
  const ip = await harness.addressed("web");

  const node = await explained(controller, "node/well-1", "well", (now) => {
    return now["state"] === "ok" && timelineReasons(now).includes("Synced");
  });
  expect(node).toMatchObject({
    object: "node/well-1",
    kind: "node",
    exists: true,
    replica: { isLeader: true },
    causes: [],
    desired: [{ description: `taint ${UNINITIALIZED} removed`, state: "met" }],
    provider: { name: "simulated", connection: "ready", ready: true, reasons: [], throttled: [] },
    controllers: [
      { controller: "cloud-node-controller", key: "well-1", failures: 0, last: { reconcileID: expect.any(String) } },
      { controller: "cloud-node-lifecycle-controller" },
    ],
  });
  expect(listOf(node["facts"])).toContainEqual({ name: "provider ID", value: expect.stringMatching(/^sim:\/\//) });
  const [call] = listOf(node["calls"]);
  expect(call).toMatchObject({
    provider: "simulated",
    method: "BatchGetInstances",
    code: "OK",
    cloudRequestIds: expect.arrayContaining([expect.any(String)]),
    objectCount: 1,
  });
  expect(timelineReasons(node)).toEqual(expect.arrayContaining(["Initialized", "ProviderIdSet", "Created"]));

  const route = await explained(controller, "route/well-1", "routed", ({ state }) => state === "ok");
  expect(route).toMatchObject({ desired: [{ description: "route to 10.120.1.0/24", state: "met" }] });
  expect(listOf(route["calls"]).map(({ method }) => method)).toContain("BatchEnsureRoutes");

  const service = await explained(controller, "service/default/web", "up to date, and reported", (last) => {
    return String(last["summary"]).includes(ip) && timelineReasons(last).includes("Ready");
  });
  expect(service).toMatchObject({ state: "ok", causes: [], controllers: [{ key: "default/web" }] });
  expect(listOf(service["calls"]).map(({ method }) => method)).toContain("EnsureLoadBalancer");
  expect(timelineReasons(service)).toEqual(
    expect.arrayContaining(["Created", "EnsuredLoadBalancer", "AddressesChanged"]),
  );

  await harness.kube.delete("/api/v1/namespaces/default/services/web");
  // The Service goes with its finalizer, a moment before the controller says so.
  const gone = await explained(controller, "service/default/web", "gone, and reported", (last) => {
    return last["exists"] === false && timelineReasons(last).includes("DeletedLoadBalancer");
  });
  expect(gone).toMatchObject({
    state: "unmanaged",
    summary: expect.stringContaining("service/default/web no longer exists in the cluster; its last entry"),
  });
});

test("explain names what is wrong with one Node, with the next try, and passes on nothing secret", async () => {
  await harness.createMachines([{ name: "wrong-1", zone: "north-a" }]);
  await harness.kube.create("/api/v1/nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "wrong-1", annotations: { "alpha.kubernetes.io/provided-node-ip": "192.0.2.99" } },
    spec: { taints: [{ key: UNINITIALIZED, value: "true", effect: "NoSchedule" }] },
  });
  const explanation = await explainedBy(controller, "node/wrong-1", "ProvidedNodeIPMismatch");
  expect(explanation).toMatchObject({
    state: "blocked",
    nextRetry: { message: expect.stringMatching(/cloud-node-controller: back-off after \d+ failures?/) },
    desired: [{ state: "unmet" }, { description: "provider ID", state: "unmet" }],
  });
  expect(causeOf(explanation)).toMatchObject({
    message: expect.stringContaining("192.0.2.99"),
    remedy: expect.stringContaining("--node-ip"),
    documentation: "docs/explanation/nodes.md",
  });
  expect(JSON.stringify(explanation)).not.toContain("system-test-key");
});

test("explain says what to write instead, and knows what it does not know", async () => {
  const bad = await page(controller, "/debug/explain?object=service/web");
  expect(bad).toEqual({
    status: 400,
    text: "object=service/web is not a service; use service/NAMESPACE/NAME, such as service/shop/web\n",
  });
  const unknown = await page(controller, "/debug/explain?object=node/absent");
  expect(unknown.status).toBe(200);
  expect(JSON.parse(unknown.text)).toMatchObject({
    exists: false,
    state: "unmanaged",
    causes: [{ reason: "NotFound" }],
    facts: [],
    timeline: [],
  });
  const provider = await explained(controller, "provider/simulated", "well", ({ state }) => state === "ok");
  expect(listOf(provider["facts"])).toContainEqual({ name: "scope", value: "simcloud/system" });
});

test("a standby says that it is one, and who leads", async () => {
  const standby = harness.startController({ args: [LOOPBACK] });
  await harness.registerNode("unowned-1");
  const leader = String(at(await explain(controller, "node/unowned-1"), "replica", "identity"));
  const explanation = await explained(standby, "node/unowned-1", "by a standby", (it) => {
    return at(it, "replica", "leaderIdentity") === leader && reasonsOf(it).join() === "NotLeader";
  });
  expect(explanation).toMatchObject({
    replica: { isLeader: false, leaderIdentity: leader },
    causes: [{ reason: "NotLeader", message: expect.stringContaining(leader) }],
    controllers: [
      { controller: "cloud-node-controller", queue: { kind: "notRunning", message: "another replica is the leader" } },
      { controller: "cloud-node-lifecycle-controller" },
    ],
  });
});

test("orphans are load balancers whose Service is gone, and unreachable providers are reported", async () => {
  await harness.createService("left", 8283);
  await harness.addressed("left");
  await controller.stop();
  // A client removes the finalizer while no controller runs.
  const path = "/api/v1/namespaces/default/services/left";
  await harness.kube.patch(path, { metadata: { finalizers: null } });
  await harness.kube.delete(path);
  const [balancer] = await harness.loadBalancers();
  const port = await freePort();
  const open = ["--bind-address=127.0.0.1", "--authorization-always-allow-paths=/debug/orphans"];
  const next = harness.startController({ args: [`--secure-port=${port}`, ...open] });
  // Anyone who leads: what belongs to no one is known to all.
  await next.said(/Started/, 60_000);
  // Until its first list is fresh, the Service may still be there for it.
  const page = await eventually("the orphan to be listed", 60_000, async () => {
    const answer = JSON.parse((await fetchPage(port, "/debug/orphans")).text);
    return answer.unreachableProviders.length === 0 && answer.orphans.length > 0 ? answer : undefined;
  });
  expect(page).toMatchObject({
    orphans: [
      {
        provider: "simulated",
        kind: "loadBalancer",
        id: balancer?.id,
        owner: "service/default/left",
        message: expect.stringContaining("delete it in the cloud"),
      },
    ],
  });
  await harness.admin.addFault({ kind: "internalError", operation: "loadBalancers.list" });
  const failing = await fetchPage(port, "/debug/orphans");
  expect(JSON.parse(failing.text)).toMatchObject({ orphans: [], unreachableProviders: [{ provider: "simulated" }] });
});

/** Reasons of what happened to it. */
function timelineReasons(explanation: Json): readonly unknown[] {
  return listOf(explanation["timeline"]).map(({ reason }) => reason);
}
