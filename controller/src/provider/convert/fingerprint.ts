import { hash } from "node:crypto";
import { LoadBalancerSpec, TargetNode } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import type { NodeSelection } from "../model/client.ts";
import { brokenRules } from "./field-rules.ts";

/**
 * Bits kept of a SHA-256, in hexadecimal digits: with the prefix short enough, and of few enough kinds of characters, for a
 * tag of any cloud (the strictest takes 63 of `[a-z0-9_-]`).
 */
const DIGITS = 40;

/** Changes with the way fingerprints are made, so that old ones never equal new ones by chance. */
const SPEC_PREFIX = "s1-";
const NODES_PREFIX = "n2-";

/**
 * Equal for equal wishes, whatever the order of their ports, ranges and annotations. To lift a protection and to say nothing of one are
 * equal: both end without one of ours, and a process that forgets having lifted it has nothing to change.
 */
export function specFingerprint({ deletionProtection, ...spec }: LoadBalancerSpec): string {
  const canonical: LoadBalancerSpec = {
    ...spec,
    ...(deletionProtection === true ? { deletionProtection } : {}),
    ports: spec.ports.toSorted((a, b) => a.port - b.port || a.protocol - b.protocol),
    sourceRanges: spec.sourceRanges === undefined ? undefined : { cidrs: spec.sourceRanges.cidrs.toSorted() },
  };
  return SPEC_PREFIX + digest([canonicalJson(LoadBalancerSpec.toJSON(canonical))]);
}

/** A node with what a selection needs to know of it; made once for as long as the node stays as it is. */
export interface PreparedTarget {
  readonly node: TargetNode;
  /** Why it must not be sent. */
  readonly faults: readonly string[];
  /** Equal for equal nodes. */
  readonly digest: string;
}

export function prepareTarget(node: TargetNode): PreparedTarget {
  const broken = brokenRules("cloudprovider.v1.TargetNode", node);
  const faults = broken.map(({ field, description }) => `node ${node.name}: ${field}: ${description}`);
  return { node, faults, digest: digest([canonicalJson(TargetNode.toJSON(node))]) };
}

/**
 * `all` as an inline selection. The fingerprint is equal for equal nodes in any order. A node that breaks a rule of the contract,
 * or is the machine of another one too, would make the provider refuse the call of every load balancer, so it is left out.
 */
export function nodeSelection(all: readonly PreparedTarget[]): NodeSelection {
  const leftOut = all.flatMap(({ faults }) => faults);
  const fit = all.filter(({ faults }) => faults.length === 0);
  const owners = firstByProviderId(fit);
  const chosen = fit.filter(({ node }) => {
    const { name, providerId } = owners.get(node.providerId) ?? node;
    if (name !== node.name) leftOut.push(`node ${node.name}: provider_id: ${providerId} is node ${name}'s too`);
    return name === node.name;
  });
  const fingerprint = NODES_PREFIX + digest(chosen.map((target) => target.digest).toSorted());
  const nodes = chosen.map(({ node }) => node);
  const selection = { fingerprint, count: nodes.length, source: { kind: "inline", nodes } } as const;
  return { ...selection, ...(leftOut.length === 0 ? {} : { leftOut }) };
}

/** Of several nodes with one provider ID the first by name, so that the order in which they come does not matter. */
function firstByProviderId(targets: readonly PreparedTarget[]): ReadonlyMap<string, TargetNode> {
  const first = new Map<string, TargetNode>();
  for (const { node } of targets) {
    const known = first.get(node.providerId);
    if (known === undefined || node.name < known.name) first.set(node.providerId, node);
  }
  return first;
}

function digest(lines: readonly string[]): string {
  return hash("sha256", lines.map((line) => `${line}\n`).join(""), "hex").slice(0, DIGITS);
}

/** JSON with the keys of every object sorted. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
