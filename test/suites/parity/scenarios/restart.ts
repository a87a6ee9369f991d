import { at, listOf } from "../../../support/kube.ts";
import type { Claim, Scenario } from "../scenario.ts";
import { addressesOf, type Stage } from "../stage.ts";
import { withRace } from "./race.ts";
import { NODE_TAG, ownRoute, routesAre } from "./route.ts";

const CALL_MS = 10_000;

/** Upstream ensures every Service when it starts; here only those that are not as they should be. */
const ENSURED: Claim = { id: "S1", explains: /^event: Service \S+ service-controller Normal Ensur/ };

/** Upstream's start repairs it without a word. */
const DRIFTED: Claim = { id: "S31", explains: /^event: Service \S+ service-controller Warning LoadBalancerDrifted/ };
const UPDATED: Claim = { id: "S31", explains: /^event: Service \S+ service-controller Normal UpdatedLoadBalancer/ };

async function balancersOf(stage: Stage) {
  const { items } = await stage.world.cloud.listLoadBalancers(
    { consistent: true, tag: [`cloudwire.dev/service-namespace=${stage.slug}`] },
    AbortSignal.timeout(CALL_MS),
  );
  return items;
}

/** Another client changes the load balancers while no controller runs. */
const patched = (patch: Parameters<Stage["world"]["cloud"]["patchLoadBalancer"]>[1]) => async (stage: Stage) => {
  for (const { id } of await balancersOf(stage))
    await stage.world.cloud.patchLoadBalancer(id, patch, AbortSignal.timeout(CALL_MS));
};

const served = async (stage: Stage): Promise<void> => stage.serve("web");

const all: readonly Scenario[] = [
  {
    name: "restart: Service unchanged",
    claims: [ENSURED, "S30"],
    arrange: served,
    run: async (stage) => stage.outlast(5000),
  },
  {
    name: "restart: Service whose provider reports no IP mode, unchanged",
    claims: [ENSURED, { id: "S17", explains: /^write: patch services\/status$/ }, "S30"],
    arrange: async (stage) => stage.serve("web", {}, { annotations: { "simulated.cloudwire.dev/ip-mode": "VIP" } }),
    run: async (stage) => stage.outlast(5000),
  },
  {
    name: "restart: Service edited meanwhile",
    claims: ["S30"],
    arrange: served,
    away: async (stage) => stage.patchService("web", { spec: { sessionAffinity: "ClientIP" } }),
    run: async (stage) => stage.seeEvent("Service", "web", "EnsuredLoadBalancer"),
  },
  {
    name: "restart: Service deleted meanwhile",
    claims: [],
    arrange: served,
    away: async (stage) => stage.deleteService("web"),
    run: async (stage) => stage.serviceGone("web"),
  },
  {
    name: "restart: Service deleted meanwhile, its finalizer taken off, held by another",
    claims: [{ id: "S7", explains: /./ }],
    arrange: async (stage) => stage.serve("web", {}, { finalizers: ["example.com/held"] }),
    away: async (stage) => {
      const finalizers = { "$deleteFromPrimitiveList/finalizers": ["service.kubernetes.io/load-balancer-cleanup"] };
      await stage.patchService("web", { metadata: finalizers });
      await stage.deleteService("web");
    },
    run: async (stage) => stage.outlast(5000),
  },
  {
    name: "restart: Service becomes ClusterIP meanwhile",
    claims: [],
    arrange: served,
    away: async (stage) => stage.patchService("web", { spec: { type: "ClusterIP" } }),
    run: async (stage) =>
      stage.seeService(
        "web",
        "has lost the finalizer",
        (service) => at(service, "metadata", "finalizers") === undefined,
      ),
  },
  {
    name: "restart: Service made meanwhile",
    claims: ["S30"],
    away: async (stage) => stage.service("web"),
    run: async (stage) => stage.addressed("web"),
  },
  {
    name: "restart: load balancer removed meanwhile",
    claims: ["S30"],
    arrange: served,
    away: async (stage) => {
      for (const { id } of await balancersOf(stage))
        await stage.world.cloud.deleteLoadBalancer(id, AbortSignal.timeout(CALL_MS));
    },
    run: async (stage) => stage.seeEvent("Service", "web", "EnsuredLoadBalancer"),
  },
  {
    name: "restart: source ranges opened meanwhile",
    claims: ["S30", DRIFTED],
    arrange: async (stage) => stage.serve("web", { loadBalancerSourceRanges: ["192.0.2.0/24"] }),
    away: patched({ sourceRanges: ["0.0.0.0/0"] }),
    run: async (stage) =>
      stage.see("the source ranges are as requested", async () =>
        (await balancersOf(stage)).every(({ sourceRanges }) => String(sourceRanges) === "192.0.2.0/24"),
      ),
  },
  {
    name: "restart: session affinity of the load balancer changed meanwhile",
    claims: ["S30", DRIFTED],
    arrange: served,
    away: patched({ sessionAffinity: "clientIp" }),
    run: async (stage) =>
      stage.see("the session affinity is as requested", async () =>
        (await balancersOf(stage)).every(({ sessionAffinity }) => sessionAffinity === "none"),
      ),
  },
  {
    name: "restart: targets of the load balancer removed meanwhile",
    claims: [ENSURED, UPDATED, "S30"],
    arrange: async (stage) => {
      await stage.join("a");
      await stage.initialized("a");
      await stage.serve("web");
    },
    away: async (stage) => {
      for (const { id } of await balancersOf(stage))
        await stage.world.cloud.replaceTargets(id, [], AbortSignal.timeout(CALL_MS));
    },
    run: async (stage) =>
      stage.see("the load balancer has targets", async () =>
        (await balancersOf(stage)).every(({ targetCount }) => targetCount > 0),
      ),
  },
  {
    name: "restart: node joins meanwhile",
    claims: ["N2"],
    away: async (stage) => {
      await stage.machine("a");
      await stage.node("a");
    },
    run: async (stage) => stage.initialized("a"),
  },
  {
    name: "restart: node unchanged",
    claims: [],
    arrange: async (stage) => {
      await stage.join("a", { externalAddress: true });
    },
    run: async (stage) => stage.outlast(5000),
  },
  {
    name: "restart: address changed meanwhile",
    claims: [],
    arrange: async (stage) => {
      await stage.join("a", { internalAddresses: ["192.0.2.81"] });
    },
    away: async (stage) => {
      const [id = ""] = stage.machines.keys();
      const patch = { internalAddresses: ["192.0.2.82"] };
      await stage.world.cloud.patchInstance(id, patch, AbortSignal.timeout(CALL_MS));
    },
    run: async (stage) =>
      stage.seeNode("a", "has its new address", (node) =>
        addressesOf(node).some((one) => one["address"] === "192.0.2.82"),
      ),
  },
  {
    name: "restart: a route left over from a node that is gone",
    claims: [],
    away: async (stage) => void (await ownRoute(stage, "10.200.51.0/24", { [NODE_TAG]: "gone-long-ago" })),
    run: async (stage) => routesAre(stage),
  },
  {
    name: "restart: a route of this cluster to a range that covers it",
    claims: [{ id: "R7", explains: /^route / }],
    away: async (stage) => void (await ownRoute(stage, "10.200.0.0/15", { [NODE_TAG]: "gone-long-ago" })),
    run: async (stage) => stage.outlast(5000),
  },
  {
    name: "restart: a route of a node's name, to another machine",
    claims: [{ id: "R16", explains: /^route / }],
    arrange: async (stage) => {
      await stage.join("a");
    },
    away: async (stage) => {
      await ownRoute(stage, "10.200.52.0/24", { [NODE_TAG]: stage.full("a") });
      await stage.patchNode("a", { spec: { podCIDR: "10.200.52.0/24", podCIDRs: ["10.200.52.0/24"] } });
    },
    run: async (stage) => stage.outlast(5000),
  },
  {
    name: "restart: node with a route deleted meanwhile",
    claims: [],
    arrange: async (stage) => {
      await stage.join("a");
      await stage.patchNode("a", { spec: { podCIDR: "10.200.50.0/24", podCIDRs: ["10.200.50.0/24"] } });
      await stage.seeNode("a", "has its network", (node) =>
        listOf(at(node, "status", "conditions")).some(({ type }) => type === "NetworkUnavailable"),
      );
    },
    away: async (stage) => stage.deleteNode("a"),
    run: async (stage) =>
      stage.see("its route is gone", async () => {
        const { items } = await stage.world.cloud.listRoutes({ consistent: true }, AbortSignal.timeout(CALL_MS));
        return !items.some(({ instanceId }) => stage.machines.has(instanceId));
      }),
  },
];

export const restartScenarios: readonly Scenario[] = all.map(withRace);
