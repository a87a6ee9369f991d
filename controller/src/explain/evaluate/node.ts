import type { DeletionCircuitBreaker, DesiredItem } from "@cloudwire/operator-api";
import { APPROVE_DELETION } from "../../api/annotations.ts";
import type { Node } from "../../api/node.ts";
import { UNINITIALIZED } from "../../api/well-known.ts";
import type { KeptReason } from "../../controllers/node-lifecycle/plan.ts";
import { isReady } from "../../controllers/node-lifecycle/predicates.ts";
import type { WaitReason } from "../../controllers/node/plan.ts";
import { isUninitialized } from "../../controllers/node/predicates.ts";
import { isUnrouted } from "../../controllers/route/predicates.ts";
import { hasReason } from "../../provider/model/errors.ts";
import type { NodeOwner } from "../../provider/model/provider.ts";
import type { Why } from "../../runtime/reconciler.ts";
import { type KnownCause, type Reason, cause, reasonFor } from "../reasons/reasons.ts";
import {
  type Evaluation,
  type LastReconcile,
  type OwnedFacts,
  evaluationOf,
  met,
  unmet,
  waitingForFinalizers,
} from "./evaluation.ts";
import { evaluateFailure, unlessEcho } from "./failure.ts";

export interface NodeFacts extends OwnedFacts {
  readonly node: Node;
  /** Of cloud-node-controller. */
  readonly initialization: LastReconcile | undefined;
  /** Of cloud-node-lifecycle-controller. */
  readonly lifecycle: LastReconcile | undefined;
}

/** By the wait reasons of cloud-node-controller that concern this instance alone. */
const BY_WAIT: Readonly<Record<WaitReason | "notSeenYet", Reason | undefined>> = {
  absent: "InstanceNotFound",
  notSeenYet: "InstanceNotVisibleYet",
  noAddress: "InstanceWithoutAddress",
  addresses: "ProvidedNodeIPMismatch",
  labels: "InvalidNodeLabels",
  providerID: "InvalidProviderID",
  // Reported by the owner or by the error.
  provider: undefined,
  unowned: undefined,
  write: undefined,
};

/** By the decisions of the deletion guard. */
const BY_DELETION_DECISION: Readonly<Record<KeptReason, Reason>> = {
  unconfirmed: "DeletionUnconfirmed",
  noProviderID: "NodeNotIdentified",
  deletionProtected: "NodeDeletionProtected",
  confirming: "DeletionConfirming",
  tooNew: "DeletionNodeTooNew",
  providerUntrusted: "DeletionProviderUntrusted",
  providerErrors: "DeletionProviderErrors",
  tooManyNodeDeletions: "TooManyNodeDeletions",
  unknown: "InstanceStateUnknown",
  notOwned: "NodeUnowned",
};

/** The provider does not report the instance as deleted. */
const NOT_ABSENT: ReadonlySet<Reason> = new Set(["InstanceStateUnknown", "NodeUnowned", "NodeNotIdentified"]);

export function evaluateNode(facts: NodeFacts): Evaluation {
  const { node } = facts;
  const { deletionTimestampMs, finalizers } = node.metadata;
  if (deletionTimestampMs !== undefined) return waitingForFinalizers("Node", finalizers);
  return isUninitialized(node) ? evaluateUninitialized(facts) : evaluateInitialized(facts);
}

/** Initialization fails for the same reason. */
const REPEATS_FAILURE: ReadonlySet<Reason> = new Set(["InstanceStateUnknown", "NodeUnowned"]);

function evaluateUninitialized(facts: NodeFacts): Evaluation {
  const { node, initialization, owner } = facts;
  const own = ownCause(node, initialization);
  const failure = unlessEcho(evaluateFailure(initialization), facts.troubles);
  // Problems of this Node come before those of the provider.
  const lifecycle = isReady(node) ? undefined : keptCause(facts);
  const kept = lifecycle !== undefined && REPEATS_FAILURE.has(lifecycle.reason) ? undefined : lifecycle;
  const causes = [ownerCause(owner), own, ...facts.troubles, own === undefined ? failure : undefined, kept];
  const known = causes.filter((one) => one !== undefined);
  return evaluationOf(known, { state: "progressing", summary: "The Node is being initialized." }, [
    unmet(`taint ${UNINITIALIZED} removed`, known),
    ...(node.spec.providerID === "" ? [unmet("provider ID", known)] : []),
  ]);
}

/** The problem of this Node or of its instance. */
function ownCause({ metadata }: Node, last: LastReconcile | undefined): KnownCause | undefined {
  const why = last?.why;
  const reason = reasonFor(BY_WAIT, why?.reason);
  if (why === undefined || reason === undefined) return undefined;
  if (reason === "InvalidProviderID" && last?.error?.from?.kind === "provider") {
    return last.error.from.reason === "AMBIGUOUS_NAME"
      ? cause("NodeOwnerAmbiguous", why.message)
      : cause(reason, why.message);
  }
  return cause(reason, `Node ${metadata.name}: ${why.message}`);
}

/** Why no provider manages a Node; undefined: one does, or determines whether it owns the Node. */
export function ownerCause(owner: NodeOwner): KnownCause | undefined {
  if (owner.kind === "unowned") return cause("NodeUnowned", owner.why);
  if (owner.kind === "owned" || owner.claimants !== undefined) return undefined;
  const { error } = owner;
  return cause(hasReason(error, "AMBIGUOUS_NAME") ? "NodeOwnerAmbiguous" : "OwnerUnknown", error.message);
}

function evaluateInitialized(facts: NodeFacts): Evaluation {
  const { node, owner, initialization } = facts;
  const delay = isReady(node) ? undefined : delayCause(facts);
  const differs =
    initialization?.why?.reason === "differs" ? cause("NodeDiffersFromCloud", initialization.why.message) : undefined;
  const route = isUnrouted(node)
    ? cause("RouteMissing", undefined, `To see the cause: cloudwire explain route/${node.metadata.name}`)
    : undefined;
  const known = [ownerCause(owner), delay, evaluateFailure(initialization), differs, route];
  const causes = known.filter((one) => one !== undefined);
  const summary = isReady(node)
    ? "The Node is initialized and Ready."
    : "The Node is initialized but not Ready. Its instance is not reported as deleted.";
  return evaluationOf(causes, { state: "ok", summary }, desiredOf(delay));
}

/** Why a Node that is not Ready is kept, or the failure to find out. */
function delayCause(facts: NodeFacts): KnownCause | undefined {
  return keptCause(facts) ?? evaluateFailure(facts.lifecycle) ?? facts.troubles[0];
}

function keptCause({ node, lifecycle, owner }: NodeFacts): KnownCause | undefined {
  const why = lifecycle?.why;
  const reason = reasonFor(BY_DELETION_DECISION, why?.reason);
  if (why === undefined || reason === undefined) return undefined;
  // The owner's cause has it.
  if (reason === "NodeUnowned" && owner.kind !== "owned") return undefined;
  if (reason !== "TooManyNodeDeletions") return cause(reason, why.message);
  const { name } = node.metadata;
  const remedy = `Check in the cloud whether the instance is deleted. If so: cloudwire approve node-deletion ${name} (or kubectl annotate node ${name} ${APPROVE_DELETION}=true).`;
  return cause(reason, why.message, remedy);
}

/** The Node is to be deleted. */
const DELETION_REASONS: ReadonlySet<Reason> = new Set(
  Object.values(BY_DELETION_DECISION).filter((reason) => !NOT_ABSENT.has(reason) && reason !== "NodeDeletionProtected"),
);

function desiredOf(delay: KnownCause | undefined): readonly DesiredItem[] {
  const initialized = met(`taint ${UNINITIALIZED} removed`);
  const isAbsent = delay !== undefined && DELETION_REASONS.has(delay.reason);
  return isAbsent
    ? [initialized, unmet("Node deleted, because its instance is reported as deleted", [delay])]
    : [initialized];
}

/** A Node whose deletion is delayed. */
export interface DelayedNode {
  /** Its owner. */
  readonly provider: string;
  /** Of the last reconcile of cloud-node-lifecycle-controller. */
  readonly why: Why;
}

/** The circuit breaker of each provider with absent instances. */
export function circuitBreakersOf(nodes: Iterable<DelayedNode>): ReadonlyMap<string, DeletionCircuitBreaker> {
  const breakers = new Map<string, DeletionCircuitBreaker>();
  for (const { provider, why } of nodes) {
    const reason = reasonFor(BY_DELETION_DECISION, why.reason);
    if (reason === undefined || !DELETION_REASONS.has(reason)) continue;
    const { absentNodes, ...before } = breakers.get(provider) ?? { open: false, absentNodes: 0 };
    const now = reason === "TooManyNodeDeletions" ? { open: true, message: why.message } : before;
    breakers.set(provider, { ...now, absentNodes: absentNodes + 1 });
  }
  return breakers;
}
