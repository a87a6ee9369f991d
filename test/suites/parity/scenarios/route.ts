import { at, type Json, listOf } from "../../../support/kube.ts";
import type { Scenario } from "../scenario.ts";
import type { Stage } from "../stage.ts";

const CALL_MS = 10_000;
/** A busy machine may hold up either side; a list of all routes comes once a minute on one of them. */
const ROUTES_MS = 12_000;
const CLUSTER_TAG = "cloudwire.dev/cluster-id";
export const NODE_TAG = "cloudwire.dev/node-name";

export const routeScenarios: readonly Scenario[] = [
  {
    name: "route: made for a node",
    claims: ["N2"],
    run: async (stage) => {
      await joinWith(stage, "a", "10.200.1.0/24");
      await stage.seeNode("a", "has its network", hasNetwork);
    },
  },
  {
    name: "route: made for two families",
    claims: ["N2", { id: "R17", explains: /^route \S+ .*\.label$/ }],
    run: async (stage) => {
      await joinWith(stage, "a", "10.200.2.0/24", "fd00:200:0:2::/64");
      await stage.seeNode("a", "has its network", hasNetwork);
    },
  },
  {
    name: "route: ranges come later",
    claims: [],
    run: async (stage) => {
      await stage.join("a");
      await stage.fromHere();
      await stage.patchNode("a", { spec: { podCIDR: "10.200.3.0/24", podCIDRs: ["10.200.3.0/24"] } });
      await stage.seeNode("a", "has its network", hasNetwork);
    },
  },
  {
    name: "route: node without ranges",
    claims: ["N2"],
    run: async (stage) => {
      await stage.join("a");
      await stage.quiet();
    },
  },
  {
    name: "route: node deleted",
    claims: [],
    run: async (stage) => {
      await joinWith(stage, "a", "10.200.4.0/24");
      await stage.seeNode("a", "has its network", hasNetwork);
      await stage.fromHere();
      await stage.deleteNode("a");
      await routesAre(stage);
    },
  },
  {
    name: "route: removed behind the controller's back",
    claims: [{ id: "R1", explains: /^(?:route |waited without success)/ }],
    run: async (stage) => {
      await joinWith(stage, "a", "10.200.5.0/24");
      await stage.seeNode("a", "has its network", hasNetwork);
      await stage.fromHere();
      const [route] = await ownRoutes(stage);
      await stage.world.cloud.deleteRoutes([route?.id ?? ""], AbortSignal.timeout(CALL_MS));
      await routesAre(stage, "10.200.5.0/24");
    },
  },
  {
    name: "route: condition of a network plugin is kept when it says the same",
    claims: [],
    run: async (stage) => {
      await stage.join("a");
      await network(stage, "a", "False", "RouteCreated", "another process made it");
      await stage.fromHere();
      await stage.patchNode("a", { spec: { podCIDR: "10.200.6.0/24", podCIDRs: ["10.200.6.0/24"] } });
      await routesAre(stage, "10.200.6.0/24");
    },
  },
  {
    name: "route: condition of a network plugin is overwritten",
    claims: [],
    run: async (stage) => {
      await joinWith(stage, "a", "10.200.7.0/24");
      await stage.seeNode("a", "has its network", hasNetwork);
      await stage.fromHere();
      await network(stage, "a", "True", "CalicoIsDown", "calico stopped");
      await stage.seeNode("a", "has its network again", hasNetwork);
    },
  },
  {
    name: "route: another owner's route to the range",
    claims: ["N2", "R12"],
    run: async (stage) => {
      const { id } = await stage.machine("gateway");
      await stage.world.cloud.createRoutes(
        [{ destination: "10.200.8.0/24", instanceId: id }],
        AbortSignal.timeout(CALL_MS),
      );
      await joinWith(stage, "a", "10.200.8.0/24");
      await stage.seeEvent("Node", "a", "FailedToCreateRoute");
      await stage.seeNode("a", "has no network", (node) => networkOf(node)?.["status"] === "True");
    },
  },
  {
    name: "route: foreign routes stay",
    claims: ["N2"],
    run: async (stage) => {
      const { id } = await stage.machine("gateway");
      const destinations = ["192.0.2.0/24", "10.200.99.0/24", "10.0.0.0/8"];
      await stage.world.cloud.createRoutes(
        destinations.map((destination) => ({ destination, instanceId: id })),
        AbortSignal.timeout(CALL_MS),
      );
      await joinWith(stage, "a", "10.200.9.0/24");
      await stage.seeNode("a", "has its network", hasNetwork);
    },
  },
  {
    name: "route: left over from a node that is gone",
    claims: [{ id: "R1", explains: /^(?:route |waited without success)/ }],
    run: async (stage) => {
      await ownRoute(stage, "10.200.10.0/24", { [NODE_TAG]: "gone-long-ago" });
      await routesAre(stage);
    },
  },
  {
    name: "route: of this cluster, outside of its ranges",
    claims: [],
    run: async (stage) => {
      await ownRoute(stage, "192.0.3.0/24", { [NODE_TAG]: "gone-long-ago" });
      await stage.quiet();
    },
  },
  {
    name: "route: without a node's name, to its machine",
    claims: [
      { id: "R8", explains: /^route \S+ .*\.label$/ },
      // Upstream removes the route and recreates it at the same time, and may fail once.
      { id: "R4", explains: /^(?:write: patch nodes\/status$|event: .* FailedToCreateRoute )/, sometimes: true },
    ],
    run: async (stage) => {
      const { id } = await stage.join("a");
      await stage.fromHere();
      await stage.world.cloud.createRoutes(
        [{ destination: "10.200.11.0/24", instanceId: id, tags: { [CLUSTER_TAG]: stage.world.clusterId } }],
        AbortSignal.timeout(CALL_MS),
      );
      await stage.patchNode("a", { spec: { podCIDR: "10.200.11.0/24", podCIDRs: ["10.200.11.0/24"] } });
      await stage.seeNode("a", "has its network", hasNetwork);
    },
  },
  {
    name: "route: two nodes with one range",
    claims: ["N2", { id: "R11", explains: /^(?:event: .* FailedToCreateRoute|Node .*NetworkUnavailable|route )/ }],
    run: async (stage) => {
      await joinWith(stage, "a", "10.200.12.0/24");
      await stage.seeNode("a", "has its network", hasNetwork);
      await joinWith(stage, "b", "10.200.12.0/24");
      await stage.seeEvent("Node", "b", "FailedToCreateRoute");
      await stage.quiet();
    },
  },
  {
    name: "route: node's range outside of the cluster's",
    claims: ["N2", { id: "R20", explains: /^(?:Node .*NetworkUnavailable|event: .* FailedToCreateRoute|route )/ }],
    run: async (stage) => {
      await joinWith(stage, "a", "10.99.1.0/24");
      await stage.quiet();
    },
  },
  {
    name: "route: node of another provider",
    claims: [{ id: "R10", explains: /./ }],
    run: async (stage) => {
      await stage.node("a", {
        spec: {
          taints: [],
          providerID: "aws:///eu-west-1a/i-9",
          podCIDR: "10.200.13.0/24",
          podCIDRs: ["10.200.13.0/24"],
        },
      });
      await stage.quiet();
    },
  },
  {
    name: "route: blackhole of a machine that is gone",
    claims: [],
    run: async (stage) => {
      const id = await joinWith(stage, "a", "10.200.14.0/24");
      await stage.seeNode("a", "has its network", hasNetwork);
      await stage.fromHere();
      await stage.world.cloud.terminateInstances([id], AbortSignal.timeout(CALL_MS));
      await stage.deleteNode("a");
      await routesAre(stage);
    },
  },
];

async function joinWith(stage: Stage, local: string, ...podCIDRs: readonly string[]): Promise<string> {
  const taints = [{ key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" }];
  const { id } = await stage.join(local, {}, { spec: { taints, podCIDR: podCIDRs[0], podCIDRs } });
  return id;
}

/** A route with this cluster's ownership tags, to a machine of its own, whose ID it returns. */
export async function ownRoute(
  stage: Stage,
  destination: string,
  tags: Readonly<Record<string, string>>,
): Promise<string> {
  const { id } = await stage.machine("target");
  const tagged = { ...tags, [CLUSTER_TAG]: stage.world.clusterId };
  await stage.world.cloud.createRoutes([{ destination, instanceId: id, tags: tagged }], AbortSignal.timeout(CALL_MS));
  return id;
}

async function ownRoutes(stage: Stage) {
  const { items } = await stage.world.cloud.listRoutes(
    { pageSize: 1000, consistent: true },
    AbortSignal.timeout(CALL_MS),
  );
  return items.filter(({ instanceId }) => stage.machines.has(instanceId));
}

export async function routesAre(stage: Stage, ...destinations: readonly string[]): Promise<void> {
  const wanted = destinations.join();
  const look = async (): Promise<boolean> =>
    (await ownRoutes(stage)).map(({ destination }) => destination).join() === wanted;
  await stage.see(`routes become ${wanted || "none"}`, look, ROUTES_MS);
}

async function network(stage: Stage, local: string, status: string, reason: string, message: string): Promise<void> {
  const condition = { type: "NetworkUnavailable", status, reason, message };
  await stage.world.kube.patch(`/api/v1/nodes/${stage.full(local)}/status`, { status: { conditions: [condition] } });
}

function networkOf(node: Json): Json | undefined {
  return listOf(at(node, "status", "conditions")).find(({ type }) => type === "NetworkUnavailable");
}

function hasNetwork(node: Json): boolean {
  const found = networkOf(node);
  return found?.["status"] === "False" && found["reason"] === "RouteCreated";
}
