import { at } from "../../../support/kube.ts";
import type { Scenario } from "../scenario.ts";
import type { Stage } from "../stage.ts";
import { NODE_TAG, ownRoute } from "./route.ts";

const CALL_MS = 10_000;
const CREATE_MS = 6000;
/** Longer than the period of drift checks. */
const DRIFT_MS = 7000;
const CIDR = "10.200.61.0/24";

/** One worker per Service on upstream's side, no nodes but those of the scenario, and drift checks every 5 s on ours. */
export const longPeriodScenarios: readonly Scenario[] = [
  {
    name: "service: a slow load balancer, and another one",
    claims: ["S30", { id: "S15", explains: /^waited without success: Service fast / }],
    run: async (stage) => {
      const latency = { "loadBalancers.create": { fixedMs: CREATE_MS, jitterMs: 0 } };
      await stage.world.admin.change({ latency });
      await stage.service("slow");
      await stage.service("fast");
      await stage.seeService("fast", "has an address", hasAddress, CREATE_MS + 4000);
      await stage.world.admin.change({ latency: {} });
      await stage.addressed("slow");
    },
  },
  {
    name: "service: settings of its load balancer changed by another client",
    claims: [
      "S30",
      { id: "S31", explains: /^(?:load balancer of web|event: Service web |waited without success|write: )/ },
    ],
    run: async (stage) => {
      await stage.serve("web");
      await stage.outlast(DRIFT_MS);
      await stage.fromHere();
      const [id = ""] = await loadBalancersOf(stage);
      const patch = { sourceRanges: ["192.0.2.0/24"] };
      await stage.world.cloud.patchLoadBalancer(id, patch, AbortSignal.timeout(CALL_MS));
      await stage.seeEvent("Service", "web", "LoadBalancerDrifted");
    },
  },
  {
    name: "service: no node has a provider ID",
    claims: ["S30", { id: "S10", explains: /^event: Service web service-controller Warning UnAvailableLoadBalancer / }],
    run: async (stage) => {
      await stage.node("a", { target: true, spec: { taints: [] } });
      await stage.serve("web");
    },
  },
];

/** The controllers start with a list of routes, and do not list again. */
export const longPeriodRestarts: readonly Scenario[] = [
  {
    name: "restart: a blackhole route to a node that exists",
    claims: [{ id: "R5", explains: /^route / }],
    arrange: async (stage) => {
      await stage.join("a");
    },
    away: async (stage) => {
      const target = await ownRoute(stage, CIDR, { [NODE_TAG]: stage.full("a") });
      await stage.world.cloud.terminateInstances([target], AbortSignal.timeout(CALL_MS));
      await stage.patchNode("a", { spec: { podCIDR: CIDR, podCIDRs: [CIDR] } });
    },
    run: async (stage) => stage.outlast(5000),
  },
];

const hasAddress = (service: Parameters<typeof at>[0]): boolean =>
  at(service, "status", "loadBalancer", "ingress", 0) !== undefined;

async function loadBalancersOf(stage: Stage): Promise<readonly string[]> {
  const tag = [`cloudwire.dev/service-namespace=${stage.slug}`];
  const { items } = await stage.world.cloud.listLoadBalancers({ consistent: true, tag }, AbortSignal.timeout(CALL_MS));
  return items.map(({ id }) => id);
}
