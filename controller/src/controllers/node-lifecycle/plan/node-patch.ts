import { RELEASE_DELETION } from "../../../api/annotations.ts";
import type { Node } from "../../../api/node.ts";
import { SHUTDOWN, taintJson } from "../../../api/taints.ts";
import type { JsonObject } from "../../../kube/client.ts";
import { isReady, isShutDown, isShutdownTaint } from "../predicates.ts";

/** What becomes of the shutdown taint: a stopped machine has it, a running one has not; else it stays as it is. */
export type ShutdownTaint = "on" | "off" | "keep";

/**
 * Strategic merge patch for a Node whose machine exists; undefined: nothing to change. `spec.taints` has no merge key on the server,
 * so the whole list is sent, and resourceVersion makes the server refuse it if anybody has put on a taint meanwhile.
 */
export function nodePatch(node: Node, wish: ShutdownTaint): JsonObject | undefined {
  const taints = taintsPatch(node, isReady(node) ? "off" : wish);
  const annotations = RELEASE_DELETION in node.metadata.annotations ? { [RELEASE_DELETION]: null } : undefined;
  if (taints === undefined && annotations === undefined) return undefined;
  const { uid, resourceVersion } = node.metadata;
  return {
    metadata: { uid, resourceVersion, ...(annotations === undefined ? {} : { annotations }) },
    ...(taints === undefined ? {} : { spec: { taints } }),
  };
}

function taintsPatch(node: Node, wish: ShutdownTaint): readonly JsonObject[] | null | undefined {
  if (wish === "keep" || isShutDown(node) === (wish === "on")) return undefined;
  const others = node.spec.taints.filter((taint) => !isShutdownTaint(taint)).map((taint) => taintJson(taint));
  if (wish === "on") return [...others, { key: SHUTDOWN, effect: "NoSchedule" }];
  return others.length === 0 ? null : others;
}
