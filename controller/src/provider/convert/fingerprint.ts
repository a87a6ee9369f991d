import { createHash } from "node:crypto";
import { LoadBalancerSpec, TargetNode } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import type { NodeSelection } from "../client.ts";
import { brokenRules } from "../field-rules.ts";

/**
 * Bits kept of a SHA-256, in hexadecimal digits: with the prefix short enough, and of few enough kinds of characters, for a
 * tag of any cloud (the strictest takes 63 of `[a-z0-9_-]`).
 */
const DIGITS = 40;

/** Changes with the way fingerprints are made, so that old ones never equal new ones by chance. */
const SPEC_PREFIX = "s1-";
const NODES_PREFIX = "n1-";

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

/**
 * `all` as an inline selection. The fingerprint is equal for equal nodes in any order. A node that breaks a rule of the contract,
 * or is the machine of another one too, would make the provider refuse the call of every load balancer, so it is left out.
 */
export function nodeSelection(all: readonly TargetNode[]): NodeSelection {
  const leftOut: string[] = [];
  const fit = all.filter((node) => {
    const broken = brokenRules("cloudprovider.v1.TargetNode", node);
    for (const { field, description } of broken) leftOut.push(`node ${node.name}: ${field}: ${description}`);
    return broken.length === 0;
  });
  const owners = firstByProviderId(fit);
  const nodes = fit.filter((node) => {
    const { name, providerId } = owners.get(node.providerId) ?? node;
    if (name !== node.name) leftOut.push(`node ${node.name}: provider_id: ${providerId} is node ${name}'s too`);
    return name === node.name;
  });
  const lines = nodes.map((node) => canonicalJson(TargetNode.toJSON(node))).toSorted();
  const selection = { fingerprint: NODES_PREFIX + digest(lines), count: nodes.length };
  return { ...selection, source: { kind: "inline", nodes }, ...(leftOut.length === 0 ? {} : { leftOut }) };
}

/** Of several nodes with one provider ID the first by name, so that the order in which they come does not matter. */
function firstByProviderId(nodes: readonly TargetNode[]): ReadonlyMap<string, TargetNode> {
  const first = new Map<string, TargetNode>();
  for (const node of nodes) {
    const known = first.get(node.providerId);
    if (known === undefined || node.name < known.name) first.set(node.providerId, node);
  }
  return first;
}

function digest(lines: readonly string[]): string {
  const hash = createHash("sha256");
  for (const line of lines) hash.update(line).update("\n");
  return hash.digest("hex").slice(0, DIGITS);
}

/** JSON with the keys of every object sorted. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
