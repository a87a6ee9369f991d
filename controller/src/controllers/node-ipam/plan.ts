import type { Node } from "../../api/node.ts";
import { needsRanges } from "./predicates.ts";

/** What is known of one Node. */
export interface Input {
  readonly node: Node;
  /** What is set aside for it. */
  readonly held: { readonly ranges: readonly string[]; readonly isWritten: boolean } | undefined;
}

export type Plan =
  /** It has its ranges, or is going. */
  | { readonly kind: "leave" }
  /** Ranges are set aside for it and may or may not have been written: the same ones again. */
  | { readonly kind: "assign"; readonly node: Node; readonly ranges: readonly string[] }
  | { readonly kind: "allocate"; readonly node: Node };

/** What one Node needs of the cluster's ranges. */
export function plan({ node, held }: Input): Plan {
  // Written, but the cache does not show it yet.
  if (!needsRanges(node) || held?.isWritten === true) return { kind: "leave" };
  return held === undefined ? { kind: "allocate", node } : { kind: "assign", node, ranges: held.ranges };
}
