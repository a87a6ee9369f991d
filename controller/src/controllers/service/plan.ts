import type { Entry, Pending } from "./ledger.ts";
import type { CleanupInput, Input, WantedInput } from "./plan/input.ts";
import { addFinalizerPatch, cleanedUpPatch } from "./plan/patches.ts";
import { progressOf } from "./plan/progress.ts";
import { lastAccepted } from "./plan/refusal.ts";
import { areNodesNew, entryFromCloud, isInForce, isWishNew, standingInCloud } from "./plan/standing.ts";
import type { Change, Delete, Plan, Settle } from "./plan/steps.ts";
import { hasFinalizer } from "./predicates.ts";

/** What to do about one Service. */
export function plan(input: Input): Plan {
  return input.kind === "cleanup" ? planCleanup(input) : planWanted(input);
}

function planCleanup({ service, isGone, provider, entry, deletion }: CleanupInput): Delete {
  return {
    kind: "delete",
    service,
    isGone,
    provider,
    loadBalancerId: entry?.loadBalancerId,
    operationId: deletion?.operationId,
    announce: deletion === undefined,
    patch: isGone ? undefined : cleanedUpPatch(service),
  };
}

function planWanted(input: WantedInput): Plan {
  const { refusal } = input;
  if (refusal !== undefined) return { kind: "refuse", refusal, meanwhile: planMeanwhile(input) };
  const entry = input.entry ?? entryFromCloud(input);
  return entry === undefined
    ? change(input, "ensure", hasFinalizer(input.service) ? "not known to be as wished" : "service created")
    : planKnown(input, entry);
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
  return entry.pending === undefined ? settle(input, entry, undefined) : planPoll(input, entry, entry.pending);
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
  return {
    kind: "change",
    service,
    provider,
    wish,
    purpose,
    call: purpose === "update" && updatesNodes ? "updateNodes" : "ensure",
    trigger,
    loadBalancerId: entry?.loadBalancerId,
    operationId: entry?.pending?.operationId,
    finalizerPatch: addFinalizerPatch(service),
    ignored: purpose === "ensure" ? unsupported : [],
    standing: entry ?? standingInCloud(input),
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
  };
}
