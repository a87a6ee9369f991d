import { at, type Json } from "../../../support/kube.ts";
import type { Scenario } from "../scenario.ts";
import type { Stage } from "../stage.ts";

const rangesOf = (node: Json): readonly unknown[] => {
  const ranges = at(node, "spec", "podCIDRs");
  return Array.isArray(ranges) ? ranges : [];
};

/** A node that comes without a range; others come after it has its own, so that the order is the same on both sides. */
async function allocated(stage: Stage, local: string): Promise<void> {
  await stage.node(local, { spec: { taints: [] } });
  await stage.seeNode(local, "has a range", (node) => rangesOf(node).length > 0);
}

/** Over 10.60.0.0/24 in blocks of /27, of which the Services have the first and a node from before the second. */
export const singleStackScenarios: readonly Scenario[] = [
  {
    name: "ipam: a range occupied from the beginning",
    claims: [],
    prepare: async (stage) => {
      await stage.node("old", { spec: { taints: [], podCIDR: "10.60.0.32/27", podCIDRs: ["10.60.0.32/27"] } });
    },
    run: async (stage) => {
      await allocated(stage, "new");
    },
  },
  {
    name: "ipam: the next node gets the next range",
    claims: [],
    run: async (stage) => {
      await allocated(stage, "a");
      await allocated(stage, "b");
    },
  },
  {
    name: "ipam: a range that is given stays",
    claims: [],
    run: async (stage) => {
      await stage.node("given", { spec: { taints: [], podCIDR: "10.60.0.192/27", podCIDRs: ["10.60.0.192/27"] } });
      await stage.quiet();
      await allocated(stage, "a");
    },
  },
  {
    name: "ipam: a released range is not the next one",
    claims: [],
    run: async (stage) => {
      await allocated(stage, "a");
      await stage.deleteNode("a");
      await stage.nodeGone("a");
      await allocated(stage, "b");
    },
  },
  {
    name: "ipam: no range is left",
    claims: [],
    run: async (stage) => {
      for (const local of ["a", "b", "c", "d", "e", "f", "g"]) await allocated(stage, local);
      await stage.node("late", { spec: { taints: [] } });
      await stage.seeEvent("Node", "late", "CIDRNotAvailable");
      await stage.deleteNode("c");
      await stage.seeNode("late", "has a range", (node) => rangesOf(node).length > 0);
    },
  },
  {
    name: "ipam: nodes wait for a range",
    claims: [{ id: "I7", explains: /^(?:waited without success|Node \S+-(?:early|late)\.spec\.podCIDR|write: )/ }],
    run: async (stage) => {
      for (const local of ["a", "b", "c", "d", "e", "f", "g"]) await allocated(stage, local);
      for (const local of ["early", "late"]) {
        await stage.node(local, { spec: { taints: [] } });
        await stage.seeEvent("Node", local, "CIDRNotAvailable");
      }
      // Upstream's attempts are then 10 s apart.
      await stage.outlast(11_500);
      await stage.deleteNode("c");
      await stage.seeNode("early", "has a range immediately", (node) => rangesOf(node).length > 0, 4000);
    },
  },
  // Last: the sides assign different numbers of blocks.
  {
    name: "ipam: a range that two nodes share",
    claims: [{ id: "I6", explains: /^(?:Node \S+\.spec\.podCIDR|event: Node \S+-late |write: patch nodes$)/ }],
    run: async (stage) => {
      const shared = { taints: [], podCIDR: "10.60.0.192/27", podCIDRs: ["10.60.0.192/27"] };
      await stage.node("first", { spec: shared });
      await stage.node("second", { spec: shared });
      await stage.quiet();
      await stage.deleteNode("first");
      await stage.nodeGone("first");
      await stage.quiet();
      for (const local of ["a", "b", "c", "d", "e", "f"]) await allocated(stage, local);
      await stage.node("late", { spec: { taints: [] } });
      await stage.quiet();
    },
  },
];

/** Over 10.61.0.0/24 in blocks of /26 and fd00:61::/63 in blocks of /64: two of one family, four of the other. */
export const dualStackScenarios: readonly Scenario[] = [
  {
    name: "ipam: a range of each family",
    claims: [],
    run: async (stage) => {
      await allocated(stage, "a");
    },
  },
  {
    name: "ipam: one family is full",
    claims: [{ id: "I4", explains: /^Node \S+-late\.spec\.podCIDR/ }],
    run: async (stage) => {
      await allocated(stage, "a");
      await allocated(stage, "b");
      await stage.node("late", { spec: { taints: [] } });
      await stage.seeEvent("Node", "late", "CIDRNotAvailable");
      await stage.quiet();
      await stage.deleteNode("a");
      await stage.seeNode("late", "has a range", (node) => rangesOf(node).length > 0);
    },
  },
  // Last: the sides assign different blocks.
  {
    name: "ipam: ranges in the other order of families",
    claims: [{ id: "I5", explains: /^(?:Node \S+-(?:a|b)\.spec\.podCIDR|event: Node \S+-b |write: patch nodes$)/ }],
    run: async (stage) => {
      const podCIDRs = ["fd00:61:0:1::/64", "10.61.0.64/26"];
      await stage.node("given", { spec: { taints: [], podCIDR: podCIDRs[0], podCIDRs } });
      await stage.quiet();
      for (const local of ["a", "b"]) await stage.node(local, { spec: { taints: [] } });
      await stage.quiet();
    },
  },
];
