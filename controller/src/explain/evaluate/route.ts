import { NETWORK_UNAVAILABLE, type Node } from "../../api/node.ts";
import type { CidrRejection } from "../../controllers/route/plan.ts";
import { isUnrouted } from "../../controllers/route/predicates.ts";
import { parseCidr } from "../../util/cidr.ts";
import type { NodeOwner } from "../../provider/model/provider.ts";
import { evaluateFailure, unlessEcho } from "./failure.ts";
import { ownerCause } from "./node.ts";
import { type Evaluation, type LastReconcile, type OwnedFacts, evaluationOf, met, unmet } from "./evaluation.ts";
import { cause, type KnownCause, type Reason, reasonFor } from "../reasons/reasons.ts";

export interface RouteFacts extends OwnedFacts {
  readonly node: Node;
  /** Of node-route-controller. */
  readonly last: LastReconcile | undefined;
}

/** Evaluates the routes of a Node. */
export function evaluateRoute(facts: RouteFacts): Evaluation {
  const { podCIDRs } = facts.node.spec;
  const causes = causesOf(facts);
  const network = facts.node.status.conditions.find(({ type }) => type === NETWORK_UNAVAILABLE);
  const isRouted = network?.status === "False" && causes.length === 0;
  const desired = podCIDRs.map((cidr) => (isRouted ? met(`route to ${cidr}`) : unmet(`route to ${cidr}`, causes)));
  return evaluationOf(
    causes,
    isRouted
      ? { state: "ok", summary: `The routes of the Node exist: ${podCIDRs.join(", ")}.` }
      : { state: "progressing", summary: "The routes of the Node are being created." },
    desired,
  );
}

function causesOf(facts: RouteFacts): readonly KnownCause[] {
  const { node, owner, last, troubles } = facts;
  const unowned = ownerCause(owner);
  if (unowned !== undefined) return [unowned];
  if (owner.kind === "owned" && owner.info.capabilities.routes === undefined) {
    return [
      cause("RoutesNotSupported", `Provider ${owner.provider.name}, which owns the Node, does not support routes`),
    ];
  }
  const failure = unlessEcho(failureCause(last), troubles);
  const isMissing = last === undefined && isUnrouted(node);
  return [
    ...(node.spec.podCIDRs.length === 0 ? [cause("NoPodCIDR")] : []),
    ...(node.spec.providerID === "" ? [cause("NoProviderID")] : []),
    ...familyGaps(node, owner),
    ...(failure === undefined ? [] : [failure]),
    ...(isMissing
      ? [cause("RouteMissing", "The Node has no route according to its condition NetworkUnavailable")]
      : []),
    ...(isUnrouted(node) || last?.error !== undefined ? troubles : []),
  ];
}

/** By the rejections before a call. */
const REFUSALS: Readonly<Record<CidrRejection, Reason>> = {
  malformed: "Rejected",
  outside: "Rejected",
  size: "Rejected",
  overlap: "CIDRConflict",
  family: "FeatureUnsupported",
};

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
  const message = `The provider supports ${families.join(" and ")} routes only, and the Node has ${unserved.join(", ")}`;
  return [cause("FeatureUnsupported", message)];
}
