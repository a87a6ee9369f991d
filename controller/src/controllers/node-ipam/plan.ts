import type { Node } from "../../api/node.ts";
import type { ProviderError } from "../../provider/model/errors.ts";
import type { InstanceResult } from "../../provider/model/instance.ts";
import { type Cidr, parseCidr } from "../../util/cidr.ts";

export interface Input {
  readonly node: Node;
  readonly allocation: { readonly cidrs: readonly string[]; readonly isWritten: boolean } | undefined;
}

export type Plan =
  | { readonly kind: "leave" }
  /** A write of the reserved CIDRs may or may not have succeeded. */
  | { readonly kind: "assign"; readonly node: Node; readonly cidrs: readonly string[] }
  | { readonly kind: "allocate"; readonly node: Node };

export function plan({ node, allocation }: Input): Plan {
  // Written, but the cache does not show it yet.
  if (!needsCidrs(node) || allocation?.isWritten === true) return { kind: "leave" };
  return allocation === undefined ? { kind: "allocate", node } : { kind: "assign", node, cidrs: allocation.cidrs };
}

export interface CloudInput {
  readonly node: Node;
  /** undefined: the Node needs no CIDRs, and was not looked up. */
  readonly result: InstanceResult | undefined;
}

export type CloudPlan =
  | { readonly kind: "leave"; readonly message: string }
  /** `unused`: CIDRs of the cloud that a Node cannot have. */
  | {
      readonly kind: "assign";
      readonly node: Node;
      readonly cidrs: readonly string[];
      readonly unused: readonly string[];
    }
  | { readonly kind: "unavailable"; readonly node: Node; readonly message: string }
  | { readonly kind: "retry"; readonly message: string; readonly error: ProviderError | undefined };

export function planCloud({ node, result }: CloudInput): CloudPlan {
  if (!needsCidrs(node) || result === undefined)
    return { kind: "leave", message: "it has its CIDRs or is being deleted" };
  switch (result.kind) {
    case "present":
      return fromInstance(node, result.instance.podCidrs);
    case "absent":
    case "noMatch":
      return { kind: "retry", message: "its instance does not exist", error: undefined };
    case "unknown":
      return { kind: "retry", message: result.error.message, error: result.error };
    case "notOwned":
      return { kind: "leave", message: result.message };
  }
  return result satisfies never;
}

function fromInstance(node: Node, reported: readonly string[] | undefined): CloudPlan {
  const unavailable = (message: string): CloudPlan => ({ kind: "unavailable", node, message });
  if (reported === undefined) {
    return unavailable(
      "its provider does not report pod CIDRs (capability pod_cidrs); use --cidr-allocator-type=RangeAllocator",
    );
  }
  if (reported.length === 0) return unavailable("the cloud has not allocated a pod CIDR yet");
  const cidrs: Cidr[] = [];
  const unused: string[] = [];
  for (const text of reported) {
    const cidr = parseCidr(text);
    if (cidr === undefined) return unavailable(`"${text}" from the cloud is not a valid CIDR`);
    // The API server accepts one of each family: pkg/apis/core/validation v1.36.3.
    if (cidrs.some(({ family }) => family === cidr.family)) unused.push(text);
    else cidrs.push(cidr);
  }
  return { kind: "assign", node, cidrs: cidrs.map(({ text }) => text), unused };
}

/** A Node that is being deleted gets none: they would be lost. */
export function needsCidrs({ metadata, spec }: Node): boolean {
  return spec.podCIDRs.length === 0 && metadata.deletionTimestampMs === undefined;
}

/** The Node starts or stops needing CIDRs, or is looked up by another ID. */
export function changesNeed(old: Node, node: Node): boolean {
  if (needsCidrs(old) !== needsCidrs(node)) return true;
  return needsCidrs(node) && (old.metadata.uid !== node.metadata.uid || old.spec.providerID !== node.spec.providerID);
}
