import { NETWORK_UNAVAILABLE, type Node } from "../../api/node.ts";
import type { CidrRejection } from "../../controllers/route/plan.ts";
import { isUnrouted } from "../../controllers/route/predicates.ts";
import { parseCidr } from "../../util/cidr.ts";
import type { NodeOwner } from "../../provider/model/provider.ts";
import { evaluateFailure, unlessEcho } from "./failure.ts";
import { ownerCause } from "./node.ts";
import { type Evaluation, evaluationOf, type LastReconcile, met, unmet } from "./evaluation.ts";
import { cause, type KnownCause, type Reason, reasonFor } from "../reasons/reasons.ts";

export interface RouteFacts {
  readonly node: Node;
  /** `ProviderSet.ownerOfNode(node)`. */
  readonly owner: NodeOwner;
  /** `providerTroubles` of the owner's snapshot; none: nothing is wrong with it, or it has no owner. */
  readonly troubles: readonly KnownCause[];
  /** `Controller.last(name)` of node-route-controller. */
  readonly last: LastReconcile | undefined;
}

/**
 * How the routes of one Node stand. Needs the Node, whose it is, what is wrong with that provider, and the last reconcile of its key where
 * there is one. Some microseconds.
 */
export function evaluateRoute(facts: RouteFacts): Evaluation {
  const { node } = facts;
  const { podCIDRs } = node.spec;
  const causes = causesOf(facts);
  const told = node.status.conditions.find(({ type }) => type === NETWORK_UNAVAILABLE);
  const isRouted = told?.status === "False";
  const wishes = podCIDRs.map((cidr) =>
    isRouted && causes.length === 0 ? met(`route to ${cidr}`) : unmet(`route to ${cidr}`, causes),
  );
  const [first] = causes;
  if (first === undefined) {
    return isRouted
      ? evaluationOf([], { state: "ok", summary: `Pods of the Node are routed: ${podCIDRs.join(", ")}.` }, wishes)
      : evaluationOf([], { state: "progressing", summary: "The Node's routes are being made." }, wishes);
  }
  return evaluationOf(causes, { state: "ok", summary: first.message }, wishes);
}

function causesOf(facts: RouteFacts): readonly KnownCause[] {
  const { node, owner, last, troubles } = facts;
  const nobody = ownerCause(owner);
  if (nobody !== undefined) return [nobody];
  if (owner.kind === "owned" && owner.info.capabilities.routes === undefined) {
    return [cause("RoutesNotSupported", `Provider ${owner.provider.name}, whose the Node is, makes no routes`)];
  }
  const failure = unlessEcho(failureCause(last), troubles);
  const isMissing = last === undefined && isUnrouted(node);
  return [
    ...(node.spec.podCIDRs.length === 0 ? [cause("NoPodCIDR")] : []),
    ...(node.spec.providerID === "" ? [cause("NoProviderID")] : []),
    ...familyGaps(node, owner),
    ...(failure === undefined ? [] : [failure]),
    ...(isMissing ? [cause("RouteMissing", "The Node says that it has no route: condition NetworkUnavailable")] : []),
    ...(isUnrouted(node) || last?.error !== undefined ? troubles : []),
  ];
}

/** Why the provider was not even asked. */
const REFUSALS: Readonly<Record<CidrRejection, Reason>> = {
  malformed: "Rejected",
  taken: "CIDRConflict",
  family: "FeatureUnsupported",
};

/** Full and taken are told by the same words as of other things; here they mean the table and the range. */
function failureCause(last: LastReconcile | undefined): KnownCause | undefined {
  const failure = evaluateFailure(last);
  if (failure?.reason === "QuotaExceeded") return cause("RouteTableFull", failure.message);
  const reason = reasonFor(REFUSALS, last?.why?.reason);
  return reason === undefined || last?.why === undefined ? failure : cause(reason, last.why.message);
}

function familyGaps({ spec }: Node, owner: NodeOwner): readonly KnownCause[] {
  const families = owner.kind === "owned" ? (owner.info.capabilities.routes?.ipFamilies ?? []) : [];
  if (families.length === 0) return [];
  const unserved = spec.podCIDRs.filter((text) => {
    const family = parseCidr(text)?.family;
    return family !== undefined && !families.includes(family);
  });
  if (unserved.length === 0) return [];
  const message = `The provider makes ${families.join(" and ")} routes only, and the Node has ${unserved.join(", ")}`;
  return [cause("FeatureUnsupported", message)];
}
