import { describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, listOf } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import { eachHarness } from "../support/each-harness.ts";
import { UNINITIALIZED, type Harness } from "../support/harness.ts";

const RANGES = ["--cluster-cidr=10.120.0.0/16,fd00:120::/48", "--leader-elect=false"] as const;
const CALL_MS = 10_000;
const RECONCILED = /^cloudwire_reconciles_total\{controller="node-route-controller"/;

let harness: Harness;

eachHarness((fresh) => {
  harness = fresh;
});

function startController(...args: readonly string[]): Program {
  // Not cloud-node-lifecycle: it would take away the Nodes whose machines these tests take away.
  return harness.startController({ args: [...RANGES, "--controllers=cloud-node,route", ...args] });
}

/** A machine and its Node, as an allocator of pod CIDRs leaves it. */
async function join(name: string, ...podCIDRs: readonly string[]): Promise<void> {
  await harness.createMachines([{ name, zone: "north-a" }]);
  await register(name, ...podCIDRs);
}

async function register(name: string, ...podCIDRs: readonly string[]): Promise<void> {
  await harness.kube.create("/api/v1/nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    spec: { podCIDR: podCIDRs[0], podCIDRs, taints: [{ key: UNINITIALIZED, value: "true", effect: "NoSchedule" }] },
  });
}

async function machineIds(): Promise<ReadonlyMap<string, string>> {
  const { items } = await harness.cloud.listInstances(
    { pageSize: 1000, consistent: true },
    AbortSignal.timeout(CALL_MS),
  );
  return new Map(items.map(({ id, name }) => [id, name]));
}

/** Every route of the account as `destination machine state`, sorted. */
async function routes(): Promise<readonly string[]> {
  const names = await machineIds();
  const page = await harness.cloud.listRoutes({ pageSize: 1000, consistent: true }, AbortSignal.timeout(CALL_MS));
  return page.items
    .map(({ destination, instanceId, state }) => `${destination} ${names.get(instanceId) ?? instanceId} ${state}`)
    .toSorted();
}

async function routesAre(...wanted: readonly string[]): Promise<void> {
  let seen: readonly string[] = [];
  await eventually(
    `routes to be ${wanted.join(", ")}`,
    30_000,
    async () => {
      seen = await routes();
      return seen.join() === wanted.toSorted().join() ? true : undefined;
    },
    () => `${seen.join(", ")}\n${harness.outputs()}`,
  );
}

async function networkIs(name: string, status: string, reason: string): Promise<void> {
  await eventually(
    `node ${name} to say ${status} ${reason}`,
    30_000,
    async () => {
      const conditions = listOf(at(await harness.kube.get(`/api/v1/nodes/${name}`), "status", "conditions"));
      const network = conditions.find(({ type }) => type === "NetworkUnavailable");
      return network?.["status"] === status && network["reason"] === reason ? true : undefined;
    },
    () => harness.outputs(),
  );
}

describe("node-route on a real control plane", () => {
  test("makes routes for nodes, follows them, and never touches a user's", async () => {
    await harness.createMachines([{ name: "gateway", zone: "north-a" }]);
    const [gateway = ""] = [...(await machineIds()).keys()];
    const users = ["10.0.0.0/8", "10.120.99.0/24", "192.0.2.0/24"];
    await harness.cloud.createRoutes(
      users.map((destination) => ({ destination, instanceId: gateway })),
      AbortSignal.timeout(CALL_MS),
    );
    const kept = users.map((destination) => `${destination} gateway active`);
    await harness.startSidecar();
    startController();
    await join("r-1", "10.120.1.0/24", "fd00:120:0:1::/64");
    await join("r-2", "10.120.2.0/24", "fd00:120:0:2::/64");
    await routesAre(
      ...kept,
      "10.120.1.0/24 r-1 active",
      "10.120.2.0/24 r-2 active",
      "fd00:120:0:1::/64 r-1 active",
      "fd00:120:0:2::/64 r-2 active",
    );
    await networkIs("r-1", "False", "RouteCreated");
    await networkIs("r-2", "False", "RouteCreated");
    await harness.kube.delete("/api/v1/nodes/r-1");
    await routesAre(...kept, "10.120.2.0/24 r-2 active", "fd00:120:0:2::/64 r-2 active");
    expect(await harness.eventReasons("Node", "r-2")).not.toContain("FailedToCreateRoute");
  });

  test("changes nothing at a restart, and takes away what lost its node meanwhile", async () => {
    await harness.startSidecar();
    const first = startController();
    await join("s-1", "10.120.1.0/24");
    await join("s-2", "10.120.2.0/24");
    await routesAre("10.120.1.0/24 s-1 active", "10.120.2.0/24 s-2 active");
    await networkIs("s-1", "False", "RouteCreated");
    await networkIs("s-2", "False", "RouteCreated");
    await first.stop();
    await harness.admin.resetCalls();
    const second = startController();
    await eventually("the list and both nodes to be reconciled", 20_000, async () =>
      (await harness.metric(second, RECONCILED)) >= 3 ? true : undefined,
    );
    await second.stop();
    expect(await harness.admin.callsOf("routes.list")).toBe(1);
    expect(await harness.admin.callsOf("routes.create")).toBe(0);
    expect(await harness.admin.callsOf("routes.delete")).toBe(0);

    await harness.kube.delete("/api/v1/nodes/s-1");
    startController();
    await routesAre("10.120.2.0/24 s-2 active");
  });

  test("gives the range of a machine that is gone to the one in its place", async () => {
    await harness.startSidecar();
    const first = startController();
    await join("b-1", "10.120.1.0/24");
    await routesAre("10.120.1.0/24 b-1 active");
    await first.stop();
    await harness.kube.delete("/api/v1/nodes/b-1");
    await harness.cloud.terminateInstances([...(await machineIds()).keys()], AbortSignal.timeout(CALL_MS));
    await eventually("the route to be a blackhole", 10_000, async () =>
      (await routes()).some((route) => route.endsWith("blackhole")) ? true : undefined,
    );
    await harness.createMachines([{ name: "b-2", zone: "north-a" }]);
    await register("b-2", "10.120.1.0/24");
    startController();
    await networkIs("b-2", "False", "RouteCreated");
    expect(await routes()).toEqual(["10.120.1.0/24 b-2 active"]);
  });

  test.each(["before", "after"] as const)(
    "ends with every route once when the sidecar is killed in the middle, %s the cloud has made them",
    async (phase) => {
      const sidecar = await harness.startSidecar();
      startController();
      const fault = await harness.admin.addFault({ kind: "hang", operation: "routes.create", phase, count: 1 });
      await join("k-1", "10.120.1.0/24");
      await join("k-2", "10.120.2.0/24");
      await eventually("the call to have struck", 20_000, async () => {
        const faults = await harness.admin.faults();
        return faults.every(({ id, strikes }) => id !== fault.id || strikes > 0) ? true : undefined;
      });
      await sidecar.stop("SIGKILL");
      await harness.admin.clearFaults();
      await harness.startSidecar();
      await networkIs("k-1", "False", "RouteCreated");
      await networkIs("k-2", "False", "RouteCreated");
      expect(await routes()).toEqual(["10.120.1.0/24 k-1 active", "10.120.2.0/24 k-2 active"]);
    },
  );

  test("says when the route table is full, and goes on as soon as there is room", async () => {
    await harness.admin.change({ quotas: { routes: 2 } });
    await harness.startSidecar();
    const controller = startController();
    await join("q-1", "10.120.1.0/24");
    await join("q-2", "10.120.2.0/24");
    await networkIs("q-1", "False", "RouteCreated");
    await networkIs("q-2", "False", "RouteCreated");
    await join("q-3", "10.120.3.0/24");
    await networkIs("q-3", "True", "NoRouteCreated");
    await eventually("the events to be there", 10_000, async () => {
      const node = await harness.eventReasons("Node", "q-3");
      const cluster = await harness.eventReasons("Namespace", "kube-system");
      return node.includes("FailedToCreateRoute") && cluster.includes("RouteTableFull") ? true : undefined;
    });
    expect(await harness.metric(controller, /^cloudwire_route_quota_limit/)).toBe(2);
    expect(await harness.metric(controller, /^cloudwire_route_quota_used/)).toBe(2);
    await harness.kube.delete("/api/v1/nodes/q-1");
    await routesAre("10.120.2.0/24 q-2 active", "10.120.3.0/24 q-3 active");
    await networkIs("q-3", "False", "RouteCreated");
  });

  test("does not run without --cluster-cidr, and says so; the rest does", async () => {
    await harness.startSidecar();
    const controller = harness.startController({ args: ["--leader-elect=false"] });
    await controller.said(/Routes are not managed.*--cluster-cidr is not given/);
    await join("w-1", "10.120.1.0/24");
    await harness.initialized("w-1");
    expect(await routes()).toEqual([]);
  });
});
