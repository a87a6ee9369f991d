import type { Scenario } from "../scenario.ts";
import { EXCLUDED, type Stage } from "../stage.ts";

const AUTOSCALER = { key: "ToBeDeletedByClusterAutoscaler", value: "1", effect: "NoSchedule" };
const CALL_MS = 10_000;

/** A Service with the machine of one node, of its own, among its targets. */
const served = async (stage: Stage): Promise<void> => {
  await stage.join("a", {}, { target: true });
  await stage.serve("web");
  await stage.targetsAre("web", "a");
};

/** Nodes come and go for all of them, so that each sees the others' changes as well: what counts is who is a target in the end. */
export const targetScenarios: readonly Scenario[] = [
  {
    name: "targets: a node joins",
    claims: ["N2", "S30"],
    arrange: async (stage) => stage.serve("web"),
    run: async (stage) => {
      await stage.join("a", {}, { target: true });
      await stage.targetsAre("web", "a");
    },
  },
  {
    name: "targets: a node goes",
    claims: ["S30"],
    arrange: served,
    run: async (stage) => {
      await stage.deleteNode("a");
      await stage.targetsAre("web");
    },
  },
  {
    name: "targets: a node is excluded",
    claims: ["S30"],
    arrange: served,
    run: async (stage) => {
      await stage.patchNode("a", { metadata: { labels: { [EXCLUDED]: "" } } });
      await stage.targetsAre("web");
    },
  },
  {
    name: "targets: an exclusion that says false",
    claims: ["S30"],
    arrange: served,
    run: async (stage) => {
      await stage.patchNode("a", { metadata: { labels: { [EXCLUDED]: "false" } } });
      await stage.quiet();
      await stage.targetsAre("web", "a");
    },
  },
  {
    name: "targets: an exclusion that says no",
    claims: ["S30"],
    arrange: served,
    run: async (stage) => {
      await stage.patchNode("a", { metadata: { labels: { [EXCLUDED]: "no" } } });
      await stage.targetsAre("web");
    },
  },
  {
    name: "targets: a node is no longer excluded",
    claims: ["S30"],
    arrange: async (stage) => {
      await stage.join("a");
      await stage.serve("web");
    },
    run: async (stage) => {
      await stage.patchNode("a", { metadata: { labels: { [EXCLUDED]: null } } });
      await stage.targetsAre("web", "a");
    },
  },
  {
    name: "targets: a node is not Ready",
    claims: ["S30"],
    arrange: served,
    run: async (stage) => {
      await stage.ready("a", "False");
      await stage.quiet();
    },
  },
  {
    name: "targets: a node is cordoned",
    claims: ["S30"],
    arrange: served,
    run: async (stage) => {
      await stage.patchNode("a", { spec: { unschedulable: true } });
      await stage.quiet();
    },
  },
  {
    name: "targets: two Services, a node joins",
    claims: ["N2", "S30"],
    arrange: async (stage) => {
      await stage.serve("web");
      await stage.serve("api");
    },
    run: async (stage) => {
      await stage.join("a", {}, { target: true });
      await stage.targetsAre("web", "a");
      await stage.targetsAre("api", "a");
    },
  },
];

/** Changes that upstream sees when something else makes it look: nothing else may happen beside them. */
export const unseenScenarios: readonly Scenario[] = [
  {
    name: "targets: the autoscaler is about to delete a node",
    claims: ["S13", "S30"],
    arrange: served,
    run: async (stage) => {
      await stage.patchNode("a", { spec: { taints: [AUTOSCALER] } });
      await stage.outlast(6000);
    },
  },
  {
    name: "targets: a node is being deleted, held by a finalizer",
    claims: ["S13", "S30"],
    arrange: async (stage) => {
      await served(stage);
      await stage.patchNode("a", { metadata: { finalizers: ["example.com/held"] } });
    },
    run: async (stage) => {
      await stage.deleteNode("a");
      await stage.outlast(6000);
    },
  },
];

/**
 * The one fault is for the one Service there is, so they are the first: upstream goes on updating load balancers of Services that are
 * gone (S5). And the node changes once: at a second change upstream updates while it still ensures, and now and then loses the node (S11).
 */
export const failingTargetScenarios: readonly Scenario[] = [
  {
    name: "faults: the update of targets fails once",
    claims: ["S12", "S30"],
    arrange: async (stage) => {
      await stage.join("a");
      await stage.serve("web");
    },
    run: async (stage) => {
      await stage.world.admin.addFault({ kind: "internalError", operation: "loadBalancers.replaceTargets", count: 1 });
      await stage.patchNode("a", { metadata: { labels: { [EXCLUDED]: null } } });
      await stage.targetsAre("web", "a");
    },
  },
];

export const faultScenarios: readonly Scenario[] = [
  {
    name: "faults: the look-up of a waiting node fails",
    claims: ["N2"],
    run: async (stage) => {
      await stage.machine("a");
      await stage.world.admin.addFault({ kind: "internalError", operation: "instances.*", durationMs: 2500 });
      await stage.node("a");
      await stage.initialized("a");
    },
  },
  {
    name: "faults: making a load balancer fails once",
    claims: ["S23", "S30"],
    run: async (stage) => {
      await stage.world.admin.addFault({ kind: "internalError", operation: "loadBalancers.create", count: 1 });
      await stage.serve("web");
    },
  },
  {
    name: "faults: making a route fails once",
    claims: ["R12"],
    arrange: async (stage) => {
      await stage.join("a");
    },
    run: async (stage) => {
      await stage.world.admin.addFault({ kind: "internalError", operation: "routes.create", count: 1 });
      await stage.patchNode("a", { spec: { podCIDR: "10.200.40.0/24", podCIDRs: ["10.200.40.0/24"] } });
      await stage.see("the route is there", async () => (await routesTo(stage)).length === 1);
    },
  },
];

/** Until `clear`, load balancers take their time. */
export const slowScenarios: readonly Scenario[] = [
  {
    name: "faults: making a load balancer takes long",
    claims: ["S30"],
    run: async (stage) => {
      await stage.world.admin.change({ delays: { loadBalancerCreateMs: 3000 } });
      await stage.serve("web");
      await stage.world.admin.resetSettings();
    },
  },
];

/** Ours deletes no Node of the provider for a minute after it: the last ones of a session. */
export const deniedScenarios: readonly Scenario[] = [
  {
    name: "faults: no right to look up a machine that is gone",
    claims: [
      { id: "L5", explains: /^(?:Node |event: Node \S+ \S+ Normal DeletingNode |write: delete nodes$)/ },
      { id: "L6", explains: /^event: Node \S+ cloud-node-lifecycle-controller \S+ NodeDeletionDelayed / },
    ],
    prepare: async (stage) => {
      await stage.machine("a");
      await stage.node("a");
    },
    arrange: async (stage) => stage.initialized("a"),
    run: async (stage) => {
      await stage.world.cloud.terminateInstances([...stage.machines.keys()], AbortSignal.timeout(CALL_MS));
      await stage.world.admin.addFault({ kind: "forbidden", operation: "instances.*", durationMs: 3000 });
      await stage.ready("a", "False");
      await stage.outlast(8000);
    },
  },
];

export const deletionFaultScenarios: readonly Scenario[] = [
  {
    name: "faults: deleting a load balancer fails once",
    claims: ["S23"],
    arrange: async (stage) => stage.serve("web"),
    run: async (stage) => {
      await stage.world.admin.addFault({ kind: "internalError", operation: "loadBalancers.delete", count: 1 });
      await stage.deleteService("web");
      await stage.serviceGone("web");
    },
  },
  {
    name: "faults: deleting a route fails once",
    claims: [],
    arrange: async (stage) => {
      const taints = [{ key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" }];
      await stage.join("a", {}, { spec: { taints, podCIDR: "10.200.41.0/24", podCIDRs: ["10.200.41.0/24"] } });
      await stage.see("the route is there", async () => (await routesTo(stage)).length === 1);
    },
    run: async (stage) => {
      await stage.world.admin.addFault({ kind: "internalError", operation: "routes.delete", count: 1 });
      await stage.deleteNode("a");
      await stage.see("the route is gone", async () => (await routesTo(stage)).length === 0);
    },
  },
];

async function routesTo(stage: Stage) {
  const { items } = await stage.world.cloud.listRoutes(
    { pageSize: 1000, consistent: true },
    AbortSignal.timeout(CALL_MS),
  );
  return items.filter(({ instanceId }) => stage.machines.has(instanceId));
}
