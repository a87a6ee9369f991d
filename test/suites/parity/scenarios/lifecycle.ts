import type { Scenario } from "../scenario.ts";
import { hasTaint, SHUTDOWN, type Stage } from "../stage.ts";

const CALL_MS = 10_000;
const shutdown = { key: SHUTDOWN, effect: "NoSchedule" };

/** A Node that was initialized more than a minute before its scenario begins: younger ones are not deleted. */
const joined = async (stage: Stage): Promise<void> => {
  await stage.machine("a");
  await stage.node("a");
};

export const lifecycleScenarios: readonly Scenario[] = [
  {
    name: "lifecycle: not Ready, machine gone",
    claims: [],
    prepare: joined,
    run: async (stage) => {
      await begin(stage);
      await terminate(stage);
      await stage.ready("a", "False");
      await stage.nodeGone("a");
    },
  },
  {
    name: "lifecycle: Ready unknown, machine gone",
    claims: [],
    prepare: joined,
    run: async (stage) => {
      await begin(stage);
      await terminate(stage);
      await stage.ready("a", "Unknown");
      await stage.nodeGone("a");
    },
  },
  {
    name: "lifecycle: no Ready condition, machine gone",
    claims: [],
    prepare: async (stage) => {
      await stage.machine("a");
      await stage.node("a", { ready: "none" });
    },
    run: async (stage) => {
      await begin(stage);
      await terminate(stage);
      await stage.nodeGone("a");
    },
  },
  {
    name: "lifecycle: Ready, machine gone",
    claims: [],
    prepare: joined,
    run: async (stage) => {
      await begin(stage);
      await terminate(stage);
      await stage.quiet();
    },
  },
  {
    name: "lifecycle: not Ready, machine runs",
    claims: [],
    prepare: joined,
    run: async (stage) => {
      await begin(stage);
      await stage.ready("a", "False");
      await stage.quiet();
    },
  },
  {
    name: "lifecycle: not Ready, machine stopped",
    claims: [],
    prepare: joined,
    run: async (stage) => {
      await begin(stage);
      await stop(stage);
      await stage.ready("a", "False");
      await stage.seeNode("a", "has the shutdown taint", (node) => hasTaint(node, SHUTDOWN));
    },
  },
  {
    name: "lifecycle: Ready, machine stopped",
    claims: [],
    prepare: joined,
    run: async (stage) => {
      await begin(stage);
      await stop(stage);
      await stage.quiet();
    },
  },
  {
    name: "lifecycle: stopped and Ready again",
    claims: [],
    prepare: joined,
    run: async (stage) => {
      await begin(stage);
      const id = await stop(stage);
      await stage.ready("a", "False");
      await stage.seeNode("a", "has the shutdown taint", (node) => hasTaint(node, SHUTDOWN));
      await stage.world.cloud.startInstance(id, AbortSignal.timeout(CALL_MS));
      await stage.ready("a", "True");
      await stage.seeNode("a", "has lost the shutdown taint", (node) => !hasTaint(node, SHUTDOWN));
    },
  },
  {
    name: "lifecycle: started again, not Ready yet",
    claims: ["L8"],
    prepare: joined,
    run: async (stage) => {
      await begin(stage);
      const id = await stop(stage);
      await stage.ready("a", "False");
      await stage.seeNode("a", "has the shutdown taint", (node) => hasTaint(node, SHUTDOWN));
      await stage.world.cloud.startInstance(id, AbortSignal.timeout(CALL_MS));
      await stage.ready("a", "Unknown");
      await stage.quiet();
    },
  },
  {
    name: "lifecycle: shutdown taint of another process on a Ready node",
    claims: [],
    prepare: joined,
    run: async (stage) => {
      await begin(stage);
      await stage.patchNode("a", { spec: { taints: [shutdown, { key: "example.com/own", effect: "NoExecute" }] } });
      await stage.seeNode("a", "has lost the shutdown taint", (node) => !hasTaint(node, SHUTDOWN));
    },
  },
  {
    name: "lifecycle: stopped, then gone",
    claims: [],
    prepare: joined,
    run: async (stage) => {
      await begin(stage);
      await stop(stage);
      await stage.ready("a", "False");
      await stage.seeNode("a", "has the shutdown taint", (node) => hasTaint(node, SHUTDOWN));
      await terminate(stage);
      await stage.nodeGone("a");
    },
  },
  {
    name: "lifecycle: gone, and a finalizer holds the Node",
    claims: [],
    prepare: joined,
    run: async (stage) => {
      await stage.patchNode("a", { metadata: { finalizers: ["example.com/held"] } });
      await begin(stage);
      await terminate(stage);
      await stage.ready("a", "False");
      await stage.seeEvent("Node", "a", "DeletingNode");
      await stage.patchNode("a", { metadata: { finalizers: null } });
      await stage.nodeGone("a");
    },
  },
  {
    name: "lifecycle: Node of another provider",
    claims: [],
    run: async (stage) => {
      await stage.node("a", { ready: "False", spec: { taints: [], providerID: "aws:///eu-west-1a/i-0123" } });
      await stage.quiet();
    },
  },
  {
    name: "lifecycle: a young Node whose machine is gone",
    claims: ["N2", "L2"],
    run: async (stage) => {
      await stage.join("a");
      await terminate(stage);
      await stage.ready("a", "False");
      await stage.outlast(5000);
    },
  },
  {
    name: "lifecycle: a waiting Node that the cloud does not know",
    claims: ["L2"],
    run: async (stage) => {
      await stage.node("a", { ready: "False" });
      await stage.outlast(5000);
    },
  },
];

/** What led here does not count. */
async function begin(stage: Stage): Promise<void> {
  await stage.initialized("a");
  await stage.fromHere();
}

async function terminate(stage: Stage): Promise<void> {
  await stage.world.cloud.terminateInstances([machineId(stage)], AbortSignal.timeout(CALL_MS));
}

async function stop(stage: Stage): Promise<string> {
  const id = machineId(stage);
  await stage.world.cloud.stopInstance(id, AbortSignal.timeout(CALL_MS));
  return id;
}

function machineId({ machines }: Stage): string {
  const [id = ""] = machines.keys();
  return id;
}
