import type { Node } from "../../api/node.ts";
import type { ProviderError } from "../../provider/model/errors.ts";
import type { InstanceResult } from "../../provider/model/instance.ts";
import { type Cidr, parseCidr } from "../../util/cidr.ts";

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

/** What is known of one Node and of its machine. */
export interface CloudInput {
  readonly node: Node;
  /** undefined: the Node needs nothing, so nobody was asked. */
  readonly answer: InstanceResult | undefined;
}

export type CloudPlan =
  | { readonly kind: "leave"; readonly why: string }
  | {
      readonly kind: "assign";
      readonly node: Node;
      readonly ranges: readonly string[];
      /** What the cloud said and a Node cannot have. */
      readonly left: readonly string[];
    }
  /** The cloud has no range for it. */
  | { readonly kind: "unavailable"; readonly node: Node; readonly why: string }
  | { readonly kind: "retry"; readonly why: string; readonly error: ProviderError | undefined };

/** What one Node needs, from what its cloud says. */
export function planCloud({ node, answer }: CloudInput): CloudPlan {
  if (!needsRanges(node) || answer === undefined) return { kind: "leave", why: "it has its ranges or is going" };
  switch (answer.kind) {
    case "present":
      return fromInstance(node, answer.instance.podCidrs);
    case "absent":
      return { kind: "retry", why: "its machine does not exist", error: undefined };
    case "unknown":
      return { kind: "retry", why: answer.error.message, error: answer.error };
    case "notOwned":
      return { kind: "leave", why: answer.message };
    default:
      return answer satisfies never;
  }
}

function fromInstance(node: Node, told: readonly string[] | undefined): CloudPlan {
  if (told === undefined) {
    const why =
      "its provider does not tell pod ranges (capability pod_cidrs); use --cidr-allocator-type=RangeAllocator";
    return { kind: "unavailable", node, why };
  }
  if (told.length === 0) return { kind: "unavailable", node, why: "the cloud has allocated no pod range yet" };
  const ranges: Cidr[] = [];
  const left: string[] = [];
  for (const text of told) {
    const range = parseCidr(text);
    if (range === undefined) return { kind: "unavailable", node, why: `"${text}", which the cloud says, is no range` };
    // The API server takes one of each family: pkg/apis/core/validation v1.36.3.
    if (ranges.some(({ family }) => family === range.family)) left.push(text);
    else ranges.push(range);
  }
  return { kind: "assign", node, ranges: ranges.map(({ text }) => text), left };
}

/** A Node that is going gets none: they would be lost with it. */
export function needsRanges({ metadata, spec }: Node): boolean {
  return spec.podCIDRs.length === 0 && metadata.deletionTimestampMs === undefined;
}

/** A change after which the Node needs ranges, needs none any more, or is found at the cloud by another ID. */
export function changesNeed(old: Node, node: Node): boolean {
  if (needsRanges(old) !== needsRanges(node)) return true;
  return needsRanges(node) && (old.metadata.uid !== node.metadata.uid || old.spec.providerID !== node.spec.providerID);
}
