import type { Drift, Operation, Present } from "../record/record.ts";
import { type DriftVerdict, driftOf } from "./drift.ts";
import type { Change, CleanupInput, Input, Plan, Settle, WantedInput } from "./types.ts";
import { addFinalizerPatch, cleanedUpPatch, ingressPatch } from "./status.ts";
import {
  areNodesNew,
  inForceInCloud,
  isInForce,
  isWishNew,
  lastAccepted,
  presentFromCloud,
  progressOf,
} from "./progress.ts";
import { hasFinalizer, isDeleting, isDeletionProtected } from "../predicates.ts";

/** Trigger of a change whose reason is that nothing is known. */
const NOT_KNOWN = "not known to be as wished";

/** What to do about one Service. */
export function plan(input: Input): Plan {
  switch (input.kind) {
    case "cleanup":
      return planCleanup(input);
    case "wanted":
      return planWanted(input);
    case "unserved":
      return { kind: "leave", service: input.service, why: input.why };
    case "absent":
      return { kind: "forget", key: input.key };
    default:
      return input satisfies never;
  }
}

function planCleanup(input: CleanupInput): Plan {
  const { service, isGone, provider, loadBalancerId, deletion, previous, upkeep, unprotected } = input;
  if (isDeletionProtected(service)) {
    return {
      kind: "keep",
      service,
      isGone,
      loadBalancerId,
      // A Service that is being deleted takes no new finalizer.
      finalizerPatch: isGone || isDeleting(service) ? undefined : addFinalizerPatch(service),
      meanwhile: upkeep && planMeanwhile(upkeep),
    };
  }
  if (previous !== undefined) return { kind: "retire", service, previous };
  return {
    kind: "delete",
    service,
    isGone,
    provider,
    loadBalancerId,
    operationId: deletion?.id,
    announce: deletion === undefined,
    patch: isGone ? undefined : cleanedUpPatch(service),
    unprotected,
  };
}

function planWanted(input: WantedInput): Plan {
  const { service, refusal, previous } = input;
  if (refusal !== undefined) return { kind: "refuse", refusal, meanwhile: planMeanwhile(input) };
  const present = input.present ?? presentFromCloud(input);
  if (present === undefined) {
    return change(input, "ensure", hasFinalizer(service) ? NOT_KNOWN : "service created");
  }
  const step = planKnown(input, present);
  // Make before break: the previous one serves until the new one is recorded and published.
  const isSettled = step.kind === "settle" && input.present !== undefined && isIdle(step);
  return isSettled && previous !== undefined && !isDeletionProtected(service)
    ? { kind: "retire", service, previous }
    : step;
}

/** Nothing is left to be written or told. */
function isIdle({ service, present, finished, finalizerPatch, look }: Settle): boolean {
  const isPublished = present.ingress === undefined || ingressPatch(service, present.ingress) === undefined;
  return isPublished && finished === undefined && finalizerPatch === undefined && look === undefined;
}

/** What the load balancer needs that an earlier wish, the last one accepted, was made into. */
function planMeanwhile(input: WantedInput): Plan | undefined {
  const present = input.present ?? inForceInCloud(input);
  if (present === undefined) return undefined;
  const asked = { ...input, ...lastAccepted(input, present), unsupported: [] };
  const needsSpec = asked.wish.spec === undefined && !input.updatesNodes;
  return needsSpec ? settle(asked, present, undefined) : planKnown(asked, present);
}

function planKnown(input: WantedInput, present: Present): Plan {
  const known = { ...input, present };
  if (isWishNew(input, present)) return change(known, "ensure", "service changed");
  if (areNodesNew(input, present)) return change(known, present.operation?.purpose ?? "update", "nodes changed");
  return present.operation === undefined ? planRead(known, present) : planPoll(input, present, present.operation);
}

/**
 * Nothing is desired that was not acknowledged. What somebody else did at the cloud counts if a sweep gave reason to read it; and so does what
 * became of a request without answer.
 */
function planRead(input: WantedInput, present: Present): Plan {
  const { suspicion, observed, isUnanswered, wish } = input;
  const drift = observed && driftOf(present, observed);
  if (suspicion !== undefined && drift !== undefined) return planDrift(input, present, drift, suspicion[drift.kind]);
  if (isUnanswered && (drift !== undefined || inForceInCloud(input) === undefined)) {
    return change(input, wish.spec === undefined ? "update" : "ensure", NOT_KNOWN);
  }
  const look = suspicion && observed && ({ kind: "steady" } as const);
  return { ...settle(input, present, undefined), look };
}

function planDrift(input: WantedInput, present: Present, drift: Drift, verdict: DriftVerdict): Plan {
  if (verdict !== "repair" || input.wish.spec === undefined) {
    const look = { kind: "left", drift, verdict: verdict === "repair" ? "later" : verdict } as const;
    return { ...settle(input, present, undefined), look };
  }
  const repair = change(input, "ensure", `drift: ${drift.kind}`);
  return { ...repair, drift, ...(drift.kind === "vanished" ? { acknowledgedNodes: undefined } : {}) };
}

function planPoll(input: WantedInput, present: Present, operation: Operation): Plan {
  const { service, observed } = input;
  if (observed === undefined) return { kind: "wait", service, present };
  if (observed.kind === "absent") return change(input, "ensure", "load balancer vanished while it was being made");
  const { loadBalancer } = observed;
  const progress = progressOf({ ...input, purpose: operation.purpose }, loadBalancer);
  switch (progress.kind) {
    case "failed":
      return { kind: "fail", message: progress.message };
    case "pending":
      return { kind: "wait", service, present: progress.present };
    case "done": {
      const isAsWished = isInForce(loadBalancer, input.wish);
      return isAsWished
        ? settle(input, progress.present, operation.purpose)
        : change(input, "ensure", "another wish is in force");
    }
    default:
      return progress satisfies never;
  }
}

function change(input: WantedInput, purpose: Operation["purpose"], trigger: string): Change {
  const { service, provider, wish, present, updatesNodes, unsupported } = input;
  const inForce = present ?? inForceInCloud(input);
  return {
    kind: "change",
    service,
    provider,
    wish,
    purpose,
    call: purpose === "update" && updatesNodes ? "updateNodes" : "ensure",
    trigger,
    drift: undefined,
    loadBalancerId: present?.loadBalancerID,
    operationId: present?.operation?.id,
    acknowledgedNodes: inForce?.operation === undefined ? inForce?.nodesFingerprint : undefined,
    finalizerPatch: addFinalizerPatch(service),
    ignored: purpose === "ensure" ? unsupported : [],
    inForce,
  };
}

function settle({ service, wish }: WantedInput, present: Present, finished: Settle["finished"]): Settle {
  const finalizerPatch = addFinalizerPatch(service);
  return {
    kind: "settle",
    service,
    present: { ...present, service },
    finished,
    nodeCount: wish.nodes.count,
    finalizerPatch,
    look: undefined,
  };
}
