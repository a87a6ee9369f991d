import { at, type Kube, listOf } from "@cloudwire/test";

const NODES_A_PAGE = 500;

/** How many Nodes have a taint. */
export async function countTainted(kube: Kube): Promise<number> {
  let tainted = 0;
  let next: unknown = "";
  do {
    const page = await kube.get(`/api/v1/nodes?limit=${NODES_A_PAGE}&continue=${encodeURIComponent(String(next))}`);
    tainted += listOf(page["items"]).filter((node) => listOf(at(node, "spec", "taints")).length > 0).length;
    next = at(page, "metadata", "continue");
  } while (typeof next === "string" && next !== "");
  return tainted;
}
