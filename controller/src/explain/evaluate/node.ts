import type { DeletionCircuitBreaker, DesiredItem } from "@cloudwire/operator-api";
import { APPROVE_DELETION } from "../../api/annotations.ts";
import type { Node } from "../../api/node.ts";
import { UNINITIALIZED } from "../../api/well-known.ts";
import type { DelayReason } from "../../controllers/node-lifecycle/guard/guard.ts";
import { isReady } from "../../controllers/node-lifecycle/predicates.ts";
import type { WaitReason } from "../../controllers/node/plan.ts";
import { isUninitialized } from "../../controllers/node/predicates.ts";
import { isUnrouted } from "../../controllers/route/predicates.ts";
import { hasReason } from "../../provider/model/errors.ts";
import type { NodeOwner } from "../../provider/model/provider.ts";
import type { Why } from "../../runtime/reconciler.ts";
import { type KnownCause, type Reason, cause, reasonFor } from "../reasons/reasons.ts";
import { type Evaluation, type LastReconcile, evaluationOf, met, unmet } from "./evaluation.ts";
import { evaluateFailure, unlessEcho } from "./failure.ts";

export interface NodeFacts {
  readonly node: Node;
  /** `ProviderSet.ownerOfNode(node)`. */
  readonly owner: NodeOwner;
  /** `providerTroubles` of the owner's snapshot; none: nothing is wrong with it, or it has no owner. */
  readonly troubles: readonly KnownCause[];
  /** `Controller.last(name)` of cloud-node-controller. */
  readonly initialization: LastReconcile | undefined;
  /** The same of cloud-node-lifecycle-controller. */
  readonly lifecycle: LastReconcile | undefined;
}

/** What cloud-node says that it waits for (controllers/node/plan.ts), where that is about this machine alone. */
const BY_WAIT: Readonly<Record<WaitReason | "notSeenYet", Reason | undefined>> = {
  absent: "InstanceNotFound",
  notSeenYet: "InstanceNotVisibleYet",
  addresses: "ProvidedNodeIPMismatch",
  labels: "InvalidNodeLabels",
  providerID: "InvalidProviderID",
  // Told by the owner, and by the error.
  provider: undefined,
  unowned: undefined,
  write: undefined,
};

/** The same of the deletion guard (controllers/node-lifecycle/guard/guard.ts). */
const BY_DELETION_DECISION: Readonly<Record<DelayReason | "unknown", Reason>> = {
  unconfirmed: "DeletionUnconfirmed",
  confirming: "DeletionConfirming",
  tooNew: "DeletionNodeTooNew",
  providerUntrusted: "DeletionProviderUntrusted",
  providerErrors: "DeletionProviderErrors",
  tooManyNodeDeletions: "TooManyNodeDeletions",
  unknown: "InstanceStateUnknown",
};

/**
 * How one Node stands. Needs the Node, whose it is, what is wrong with that provider, and the last reconciles of its key in two controllers
 * where there are any (a replica that does not lead has none). Some microseconds.
 */
export function evaluateNode(facts: NodeFacts): Evaluation {
  const { node } = facts;
  if (node.metadata.deletionTimestampMs !== undefined) return evaluateDeletion(node);
  return isUninitialized(node) ? evaluateUninitialized(facts) : evaluateInitialized(facts);
}

function evaluateDeletion({ metadata }: Node): Evaluation {
  const { finalizers } = metadata;
  const causes =
    finalizers.length === 0
      ? []
      : [
          cause(
            "WaitingForFinalizers",
            `The Node is being deleted and waits for finalizers of other programs: ${finalizers.join(", ")}`,
          ),
        ];
  return evaluationOf(causes, { state: "progressing", summary: "The Node is being deleted." });
}

function evaluateUninitialized(facts: NodeFacts): Evaluation {
  const { node, initialization, owner } = facts;
  const own = ownCause(node, initialization);
  const failure = unlessEcho(evaluateFailure(initialization), facts.troubles);
  // What only the Node's user can change goes before what is wrong with everything; what was tried before that happened comes last.
  const causes = [ownerCause(owner), own, ...facts.troubles, own === undefined ? failure : undefined];
  const known = causes.filter((one) => one !== undefined);
  return evaluationOf(known, { state: "progressing", summary: "The Node is being initialized." }, [
    unmet(`taint ${UNINITIALIZED} removed`, known),
    ...(node.spec.providerID === "" ? [unmet("provider ID", known)] : []),
  ]);
}

/** What is wrong with this very Node, or its machine. */
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

/** Why nobody sees to a Node; undefined: somebody does, or is about to find out whether it is his. */
export function ownerCause(owner: NodeOwner): KnownCause | undefined {
  if (owner.kind === "unowned") return cause("NodeUnowned", owner.why);
  if (owner.kind === "owned" || owner.claimants !== undefined) return undefined;
  const { error } = owner;
  return cause(hasReason(error, "AMBIGUOUS_NAME") ? "NodeOwnerAmbiguous" : "OwnerUnknown", error.message);
}

function evaluateInitialized(facts: NodeFacts): Evaluation {
  const { node, owner, initialization } = facts;
  const hold = isReady(node) ? undefined : holdCause(facts);
  const differs =
    initialization?.why?.reason === "differs" ? cause("NodeDiffersFromCloud", initialization.why.message) : undefined;
  const route = isUnrouted(node)
    ? cause("RouteMissing", undefined, `To see the cause: cloudwire explain route/${node.metadata.name}`)
    : undefined;
  const known = [ownerCause(owner), hold, evaluateFailure(initialization), differs, route];
  const causes = known.filter((one) => one !== undefined);
  const summary = isReady(node)
    ? "The Node is initialized, and Ready."
    : "The Node is initialized and not Ready; nothing says that its machine is gone.";
  return evaluationOf(causes, { state: "ok", summary }, desiredOf(hold));
}

/** Why a Node that is not Ready stays, though its machine may be gone. */
function holdCause({ node, troubles, lifecycle }: NodeFacts): KnownCause | undefined {
  const why = lifecycle?.why;
  const reason = holdReason(why);
  if (why === undefined || reason === undefined) return evaluateFailure(lifecycle) ?? troubles[0];
  if (reason !== "TooManyNodeDeletions") return cause(reason, why.message);
  const { name } = node.metadata;
  const remedy = `Check in the cloud whether the instance is deleted. If so: cloudwire approve node-deletion ${name} (or kubectl annotate node ${name} ${APPROVE_DELETION}=true).`;
  return cause(reason, why.message, remedy);
}

/** By what the deletion guard says of a Node; undefined: it says nothing. All but InstanceStateUnknown mean that its machine is said to be gone. */
function holdReason(why: Why | undefined): Reason | undefined {
  return reasonFor(BY_DELETION_DECISION, why?.reason);
}

function desiredOf(hold: KnownCause | undefined): readonly DesiredItem[] {
  const initialized = met(`taint ${UNINITIALIZED} removed`);
  const isAbsent = hold?.reason.startsWith("Deletion") === true || hold?.reason === "TooManyNodeDeletions";
  return isAbsent
    ? [initialized, unmet("Node deleted, because its instance is reported as deleted", [hold])]
    : [initialized];
}

/** Why a Node that is not Ready stays, as the last reconcile of cloud-node-lifecycle-controller has it. */
export interface Held {
  /** Whose the Node is. */
  readonly provider: string;
  readonly why: Why;
}

/** How the brake of each provider's Nodes stands, by what is said of the Nodes themselves; a provider without any is not there. */
export function circuitBreakersOf(nodes: Iterable<Held>): ReadonlyMap<string, DeletionCircuitBreaker> {
  const brakes = new Map<string, DeletionCircuitBreaker>();
  for (const { provider, why } of nodes) {
    const reason = holdReason(why);
    if (reason === undefined || reason === "InstanceStateUnknown") continue;
    const { absentNodes, ...before } = brakes.get(provider) ?? { open: false, absentNodes: 0 };
    const now = reason === "TooManyNodeDeletions" ? { open: true, message: why.message } : before;
    brakes.set(provider, { ...now, absentNodes: absentNodes + 1 });
  }
  return brakes;
}
