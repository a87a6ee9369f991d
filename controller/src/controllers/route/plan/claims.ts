import { type Cidr, contains, overlaps } from "../../../util/cidr.ts";

/** A pod CIDR of a Node. A kubelet can set that of its own Node when it registers, so that it proves nothing. */
export interface Claim {
  readonly node: string;
  readonly cidr: Cidr;
  /** Of the Node: set by the API server. */
  readonly createdMs: number;
}

/** Why a CIDR gets no route. */
export interface Refusal {
  readonly rejection: "outside" | "size" | "overlap";
  readonly message: string;
}

export interface ClaimRules {
  readonly clusterCidrs: readonly Cidr[];
  /** What node-ipam-controller allocates, if it runs here. */
  readonly blocks: readonly Block[];
  /** The cluster has other Nodes, which need pod CIDRs too. */
  readonly hasOthers: boolean;
  /** Claims of any Node that overlap the CIDR. */
  readonly overlapping: (cidr: Cidr) => Iterable<Claim>;
  /** The Node has the route to the CIDR of its claim. */
  readonly hasRoute: (claim: Claim) => boolean;
}

export interface Block {
  readonly cidr: Cidr;
  /** Prefix length of a Node's pod CIDR. */
  readonly nodeMaskSize: number;
}

/**
 * Why the claim gets no route; undefined: it may have one. Of claims that overlap, the Node with a route goes first, then the older Node. A
 * refused claim blocks no other: a Node that claims the whole network must not cut off the Nodes in it.
 */
export function refuse(claim: Claim, rules: ClaimRules): Refusal | undefined {
  return decide(claim, rules, new Map());
}

/** `decided`: results so far. Without them, a few nested claims would take seconds. */
type Decided = Map<Claim, Refusal | undefined>;

function decide(claim: Claim, rules: ClaimRules, decided: Decided): Refusal | undefined {
  if (decided.has(claim)) return decided.get(claim);
  const refusal = refuseCidr(claim.cidr, rules) ?? refuseRival(claim, rules, decided);
  decided.set(claim, refusal);
  return refusal;
}

function refuseRival(claim: Claim, rules: ClaimRules, decided: Decided): Refusal | undefined {
  const { cidr } = claim;
  const rival = rivalOf(claim, rules, decided);
  if (rival === undefined) return undefined;
  const isSame = rival.cidr.text === cidr.text;
  const message = isSame
    ? `node ${rival.node} has the same pod CIDR`
    : `it overlaps pod CIDR ${rival.cidr.text} of node ${rival.node}`;
  return { rejection: "overlap", message };
}

function refuseCidr(cidr: Cidr, { clusterCidrs, blocks, hasOthers }: ClaimRules): Refusal | undefined {
  if (!clusterCidrs.some((clusterCidr) => contains(clusterCidr, cidr))) {
    const message = `it is not inside --cluster-cidr (${clusterCidrs.map(({ text }) => text).join(", ")})`;
    return { rejection: "outside", message };
  }
  const block = blocks.find((candidate) => contains(candidate.cidr, cidr));
  if (block !== undefined && !cidr.text.endsWith(`/${block.nodeMaskSize}`)) {
    const message = `node-ipam-controller allocates CIDRs of prefix length ${block.nodeMaskSize} only`;
    return { rejection: "size", message };
  }
  if (!hasOthers || !clusterCidrs.some((clusterCidr) => contains(cidr, clusterCidr))) return undefined;
  return { rejection: "size", message: "it is a whole CIDR of --cluster-cidr, and other Nodes need pod CIDRs in it" };
}

function rivalOf(claim: Claim, rules: ClaimRules, decided: Decided): Claim | undefined {
  const hasRoute = rules.hasRoute(claim);
  for (const other of rules.overlapping(claim.cidr)) {
    if (other.node === claim.node || !overlaps(other.cidr, claim.cidr)) continue;
    if (!goesBefore(other, rules.hasRoute(other), claim, hasRoute)) continue;
    if (decide(other, rules, decided) === undefined) return other;
  }
  return undefined;
}

/** A total order: without it, {@link decide} would not end. */
function goesBefore(one: Claim, oneHasRoute: boolean, other: Claim, otherHasRoute: boolean): boolean {
  if (oneHasRoute !== otherHasRoute) return oneHasRoute;
  if (one.createdMs !== other.createdMs) return one.createdMs < other.createdMs;
  return one.node < other.node;
}
