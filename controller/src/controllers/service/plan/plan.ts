import type { Entry, Pending } from "../ledger.ts";
import { driftOf } from "./drift.ts";
import type { CleanupInput, Input, WantedInput } from "./input.ts";
import { addFinalizerPatch, cleanedUpPatch, ingressPatch } from "./patches.ts";
import { progressOf } from "./progress.ts";
import { lastAccepted } from "./refusal.ts";
import { areNodesNew, entryFromCloud, isInForce, isWishNew, standingInCloud } from "./standing.ts";
import type { Change, Plan, Settle } from "./types.ts";
import { hasFinalizer, isDeleting, isDeletionProtected } from "../predicates.ts";

/** What to do about one Service. */
export function plan(input: Input): Plan {
  switch (input.kind) {
    case "cleanup":
      return planCleanup(input);
    case "wanted":
      return planWanted(input);
    case "unserved":
      return { kind: "leave", service: input.service, why: input.why };
    default:
      return input satisfies never;
  }
}

function planCleanup(input: CleanupInput): Plan {
  const { service, isGone, provider, entry, deletion, former, upkeep, unprotected } = input;
  const loadBalancerId = entry?.loadBalancerId;
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
  if (former !== undefined) return { kind: "retire", service, former };
  return {
    kind: "delete",
    service,
    isGone,
    provider,
    loadBalancerId,
    operationId: deletion?.operationId,
    announce: deletion === undefined,
    patch: isGone ? undefined : cleanedUpPatch(service),
    unprotected,
  };
}

function planWanted(input: WantedInput): Plan {
  const { service, refusal, former } = input;
  if (refusal !== undefined) return { kind: "refuse", refusal, meanwhile: planMeanwhile(input) };
  const entry = input.entry ?? entryFromCloud(input);
  if (entry === undefined) {
    return change(input, "ensure", hasFinalizer(service) ? "not known to be as wished" : "service created");
  }
  const step = planKnown(input, entry);
  // Make before break: the former one serves until the new one is written down and published.
  const isSettled = step.kind === "settle" && input.entry !== undefined && isIdle(step);
  return isSettled && former !== undefined && !isDeletionProtected(service)
    ? { kind: "retire", service, former }
    : step;
}

/** Nothing is left to be written or told. */
function isIdle({ service, entry, finished, finalizerPatch, look }: Settle): boolean {
  const isPublished = entry.ingress === undefined || ingressPatch(service, entry.ingress) === undefined;
  return isPublished && finished === undefined && finalizerPatch === undefined && look === undefined;
}

/** What the load balancer needs that an earlier wish, the last one accepted, was made into. */
function planMeanwhile(input: WantedInput): Plan | undefined {
  const entry = input.entry ?? standingInCloud(input);
  if (entry === undefined) return undefined;
  const asked = { ...input, ...lastAccepted(input, entry), unsupported: [] };
  const needsSpec = asked.wish.spec === undefined && !input.updatesNodes;
  return needsSpec ? settle(asked, entry, undefined) : planKnown(asked, entry);
}

function planKnown(input: WantedInput, entry: Entry): Plan {
  const known = { ...input, entry };
  if (isWishNew(input, entry)) return change(known, "ensure", "service changed");
  if (areNodesNew(input, entry)) return change(known, entry.pending?.kind ?? "update", "nodes changed");
  return entry.pending === undefined ? planLook(known, entry) : planPoll(input, entry, entry.pending);
}

/** Nothing is wished for that was not acknowledged: what somebody else did at the cloud counts, if a sweep gave reason to look. */
function planLook(input: WantedInput, entry: Entry): Plan {
  const { suspicion, observed } = input;
  if (suspicion === undefined || observed === undefined) return settle(input, entry, undefined);
  const drift = driftOf(entry, observed);
  if (drift === undefined) return { ...settle(input, entry, undefined), look: { kind: "steady" } };
  const verdict = suspicion[drift.kind];
  if (verdict !== "repair" || input.wish.spec === undefined) {
    const look = { kind: "left", drift, verdict: verdict === "repair" ? "later" : verdict } as const;
    return { ...settle(input, entry, undefined), look };
  }
  const repair = change(input, "ensure", `drift: ${drift.kind}`);
  return { ...repair, drift, ...(drift.kind === "vanished" ? { acknowledgedNodes: undefined } : {}) };
}

function planPoll(input: WantedInput, entry: Entry, pending: Pending): Plan {
  const { service, observed } = input;
  if (observed === undefined) return { kind: "wait", service, entry };
  if (observed.kind === "absent") return change(input, "ensure", "load balancer vanished while it was being made");
  const { loadBalancer } = observed;
  const progress = progressOf({ ...input, purpose: pending.kind }, loadBalancer);
  switch (progress.kind) {
    case "failed":
      return { kind: "fail", message: progress.message };
    case "pending":
      return { kind: "wait", service, entry: progress.entry };
    case "done": {
      const isAsWished = isInForce(loadBalancer, input.wish);
      return isAsWished
        ? settle(input, progress.entry, pending.kind)
        : change(input, "ensure", "another wish is in force");
    }
    default:
      return progress satisfies never;
  }
}

function change(input: WantedInput, purpose: Pending["kind"], trigger: string): Change {
  const { service, provider, wish, entry, updatesNodes, unsupported } = input;
  const standing = entry ?? standingInCloud(input);
  return {
    kind: "change",
    service,
    provider,
    wish,
    purpose,
    call: purpose === "update" && updatesNodes ? "updateNodes" : "ensure",
    trigger,
    drift: undefined,
    loadBalancerId: entry?.loadBalancerId,
    operationId: entry?.pending?.operationId,
    acknowledgedNodes: standing?.pending === undefined ? standing?.nodesFingerprint : undefined,
    finalizerPatch: addFinalizerPatch(service),
    ignored: purpose === "ensure" ? unsupported : [],
    standing,
  };
}

function settle({ service, wish }: WantedInput, entry: Entry, finished: Settle["finished"]): Settle {
  const finalizerPatch = addFinalizerPatch(service);
  return {
    kind: "settle",
    service,
    entry: { ...entry, service },
    finished,
    nodeCount: wish.nodes.count,
    finalizerPatch,
    look: undefined,
  };
}
