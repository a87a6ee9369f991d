import { APPROVE_DELETION } from "../../api/annotations.ts";
import type { Node } from "../../api/node.ts";
import { SHUTDOWN, taintJson } from "../../api/well-known.ts";
import type { JsonObject } from "../../kube/client.ts";
import type { ProviderError } from "../../provider/model/errors.ts";
import type { InstanceResult, InstanceState } from "../../provider/model/instance.ts";
import { countResult, ignoredReason } from "./guard/absences.ts";
import { type Delay, type DelayReason, type GuardInput, decide } from "./guard/guard.ts";
import type { NodeRecord } from "./node-history.ts";
import {
  identityOf,
  isExempt,
  isProtected,
  isReady,
  isShutDown,
  isShutdownTaint,
  notReadySinceMs,
} from "./predicates.ts";

/** One observation of a Node. The histories do not contain it yet. */
export type Observation =
  /** Deleted, or replaced by another Node of that name. */
  | { readonly kind: "vanished" }
  | { readonly kind: "ready"; readonly node: Node; readonly before: NodeRecord | undefined }
  | { readonly kind: "tooNew"; readonly node: Node; readonly tooNewForMs: number }
  | Answered;

/** A Node that is not Ready, with the result of its lookup. `facts` are those before the result counts. */
export interface Answered extends Lookup {
  readonly kind: "answered";
  readonly node: Node;
  /** The result makes other results of its provider untrusted. */
  readonly makesUntrusted: boolean;
  readonly before: NodeRecord | undefined;
  /** The circuit breaker in `facts` counts the Node. */
  readonly isCounted: boolean;
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** Changes of the histories. */
export interface News {
  readonly record:
    | { readonly kind: "kept" | "forgotten" | "vanished" }
    | { readonly kind: "put"; readonly record: NodeRecord };
  /** The provider whose error makes it untrusted. */
  readonly failed?: string | undefined;
  /** The provider that had reported an existing instance as absent. */
  readonly contradicted?: string | undefined;
}

/** The changes of the histories, and the input of the decision after them. undefined: nothing to decide. */
export function fold(seen: Observation): { readonly news: News; readonly input: Input | undefined } {
  switch (seen.kind) {
    case "vanished":
      return { news: { record: { kind: "vanished" } }, input: undefined };
    case "ready": {
      const { node, before } = seen;
      // A kubelet that reports proves that its instance exists, whatever the provider reported.
      const contradicted = before?.absences?.witness.provider;
      return {
        news: { record: { kind: "forgotten" }, contradicted },
        input: { node, lookup: undefined, tooNewForMs: 0 },
      };
    }
    case "tooNew": {
      const { node, tooNewForMs } = seen;
      return { news: { record: { kind: "kept" } }, input: { node, lookup: undefined, tooNewForMs } };
    }
    case "answered":
      return foldAnswered(seen);
  }
  return seen satisfies never;
}

function foldAnswered(seen: Answered): { readonly news: News; readonly input: Input } {
  const { node, result, makesUntrusted, reportsShutdown, before, facts, isCounted, monotonicMs } = seen;
  const provider = facts?.provider.name;
  // An instance reported as absent exists: other absences of the provider may be wrong too, and are counted again.
  const isContradiction = result.kind === "present" && before?.absences !== undefined;
  const contradictedAtMs = isContradiction ? monotonicMs : facts?.provider.contradictedAtMs;
  const record = recordOf(seen, provider === undefined ? undefined : contradictedAtMs);
  const news: News = {
    record: { kind: "put", record },
    failed: makesUntrusted ? provider : undefined,
    contradicted: isContradiction ? provider : undefined,
  };
  const inputWith = (folded: GuardInput | undefined) => ({
    news,
    input: { node, lookup: { result, facts: folded, reportsShutdown }, tooNewForMs: 0 },
  });
  if (facts === undefined) return inputWith(undefined);
  const failedAtMs = makesUntrusted || isContradiction ? monotonicMs : facts.provider.failedAtMs;
  const gone = facts.circuitBreaker.gone - Number(isCounted) + Number(record.isGone);
  return inputWith({
    ...facts,
    absences: record.absences,
    provider: { ...facts.provider, failedAtMs, contradictedAtMs },
    circuitBreaker: { ...facts.circuitBreaker, gone },
  });
}

function isKept({ node, facts }: Answered): boolean {
  return isProtected(node) || facts?.rules.deletesNothing === true;
}

function recordOf(seen: Answered, contradictedAtMs: number | undefined): NodeRecord {
  const { node, result, before, facts, nowMs, monotonicMs } = seen;
  // A Node that is being deleted was counted as deleted, or another client deletes it.
  // A protected Node is not deleted, and must not block others for as long as it is kept.
  const isCountable = !isExempt(node) && !isKept(seen) && node.metadata.deletionTimestampMs === undefined;
  // When a protection ends, confirmations start again, so that the circuit breaker counts the other Nodes without it before the first is deleted.
  const continued = before?.isGone === false && isCountable ? undefined : before?.absences;
  const absences = countResult(continued, result, {
    contradictedAtMs,
    createdMs: node.metadata.creationTimestampMs,
    notReadySinceMs: notReadySinceMs(node),
    nowMs,
    monotonicMs,
  });
  const state = result.kind === "present" ? result.instance.state : result.kind;
  const observedState = [notReadySinceMs(node), node.spec.providerID, state, isExempt(node), isKept(seen)].join(" ");
  return {
    identity: identityOf(node),
    provider: facts?.provider.name,
    absences,
    isGone: absences !== undefined && isCountable,
    observedState,
    unchangedLookups: before?.observedState === observedState ? before.unchangedLookups + 1 : 1,
    reported: before?.reported ?? {},
  };
}

export interface Input {
  readonly node: Node;
  /** undefined: no lookup, because the Node is Ready or too new. */
  readonly lookup: Lookup | undefined;
  readonly tooNewForMs: number;
}

export interface Lookup {
  readonly result: InstanceResult;
  readonly facts: GuardInput | undefined;
  /** The provider reports whether an instance is stopped. */
  readonly reportsShutdown: boolean;
}

export type Plan =
  | { readonly kind: "ready"; readonly node: Node; readonly needsPatch: boolean }
  | { readonly kind: "tooNew"; readonly lookupInMs: number }
  | { readonly kind: "exists"; readonly node: Node; readonly taint: ShutdownTaint; readonly needsPatch: boolean }
  | { readonly kind: "notOwned"; readonly node: Node; readonly message: string; readonly report: boolean }
  | { readonly kind: "unknown"; readonly node: Node; readonly error: ProviderError; readonly report: boolean }
  | { readonly kind: "alreadyDeleting" }
  /** The instance is absent, but the Node is not deleted yet. */
  | { readonly kind: "delayed"; readonly node: Node; readonly delay: Delay; readonly report: boolean }
  | { readonly kind: "delete"; readonly node: Node; readonly provider: string };

/** Why a Node that is not Ready is kept. */
export type KeptReason = DelayReason | "unknown" | "notOwned";

/** What may only need time is reported when the Node is not Ready for longer than this. */
const REPORT_DELAY_AFTER_MS = 300_000;

/** An operator can end these delays, or should know why a dead Node is kept. */
const REPORTED_IMMEDIATELY: ReadonlySet<DelayReason> = new Set([
  "providerUntrusted",
  "providerErrors",
  "tooManyNodeDeletions",
  "noProviderID",
  "deletionProtected",
]);

export function plan({ node, lookup, tooNewForMs }: Input, nowMs: number): Plan {
  if (isReady(node)) return { kind: "ready", node, needsPatch: nodePatch(node, "off") !== undefined };
  if (lookup === undefined) return { kind: "tooNew", lookupInMs: tooNewForMs };
  const { result, facts, reportsShutdown } = lookup;
  const lastsAt = (ms: number): boolean => ms - notReadySinceMs(node) > REPORT_DELAY_AFTER_MS;
  const lasts = lastsAt(nowMs);
  switch (result.kind) {
    case "present": {
      const taint = reportsShutdown ? taintFor(result.instance.state) : "keep";
      return { kind: "exists", node, taint, needsPatch: nodePatch(node, taint) !== undefined };
    }
    case "notOwned":
      // A Node of no provider here is another program's.
      return { kind: "notOwned", node, message: result.message, report: facts !== undefined && lasts };
    case "unknown":
      // The provider may ask for a longer wait.
      return { kind: "unknown", node, error: result.error, report: lastsAt(nowMs + (result.error.retryAfterMs ?? 0)) };
    case "noMatch":
      return planKept(node, { ...NO_PROVIDER_ID, message: noMatchMessage(node) }, lasts);
    case "absent": {
      const ignored = facts && ignoredReason(result, { ...facts, notReadySinceMs: notReadySinceMs(node) });
      return planAbsent(node, facts, ignored, lasts);
    }
  }
  return result satisfies never;
}

/** An instance that is starting or stopping keeps the taint as it is. */
function taintFor(state: InstanceState): ShutdownTaint {
  if (state === "stopped") return "on";
  return state === "running" ? "off" : "keep";
}

function planKept(node: Node, delay: Delay, lasts: boolean): Plan {
  if (node.metadata.deletionTimestampMs !== undefined) return { kind: "alreadyDeleting" };
  return { kind: "delayed", node, delay, report: lasts || REPORTED_IMMEDIATELY.has(delay.reason) };
}

function planAbsent(node: Node, facts: GuardInput | undefined, ignored: string | undefined, lasts: boolean): Plan {
  if (node.metadata.deletionTimestampMs !== undefined) return { kind: "alreadyDeleting" };
  const decision = facts === undefined ? UNOWNED : decide(facts);
  if (decision.kind === "delete") return { kind: "delete", node, provider: facts?.provider.name ?? "" };
  const delay =
    decision.reason === "unconfirmed" && ignored !== undefined ? { ...decision, message: ignored } : decision;
  return planKept(node, delay, lasts);
}

function noMatchMessage({ metadata }: Node): string {
  return `it has no provider ID, and no provider has an instance with the name ${metadata.name}, or is known to have had one`;
}

const NO_PROVIDER_ID = { kind: "delayed", reason: "noProviderID", endsInMs: undefined } as const;

const UNOWNED: Delay = {
  kind: "delayed",
  reason: "unconfirmed",
  message: "no provider owns the Node",
  endsInMs: undefined,
};

/** A stopped instance has the shutdown taint, and a running one does not. */
export type ShutdownTaint = "on" | "off" | "keep";

/**
 * Strategic merge patch for a Node whose instance exists; undefined: nothing to change. `spec.taints` has no merge key in the API server, so
 * the patch contains the whole list. With resourceVersion the server rejects it if another client has changed the taints.
 */
export function nodePatch(node: Node, taint: ShutdownTaint): JsonObject | undefined {
  const taints = taintsPatch(node, isReady(node) ? "off" : taint);
  const annotations = APPROVE_DELETION in node.metadata.annotations ? { [APPROVE_DELETION]: null } : undefined;
  if (taints === undefined && annotations === undefined) return undefined;
  const { uid, resourceVersion } = node.metadata;
  return {
    metadata: { uid, resourceVersion, ...(annotations === undefined ? {} : { annotations }) },
    ...(taints === undefined ? {} : { spec: { taints } }),
  };
}

function taintsPatch(node: Node, taint: ShutdownTaint): readonly JsonObject[] | null | undefined {
  if (taint === "keep" || isShutDown(node) === (taint === "on")) return undefined;
  const others = node.spec.taints.filter((one) => !isShutdownTaint(one)).map((one) => taintJson(one));
  if (taint === "on") return [...others, { key: SHUTDOWN, effect: "NoSchedule" }];
  return others.length === 0 ? null : others;
}

/** How often the instance of a Node that is not Ready is looked up. */
export interface LookupRules {
  /** --node-monitor-period. */
  readonly periodMs: number;
  /** Before a Node is deleted, all others that are not Ready have been looked up too, so that the circuit breaker counts them. */
  readonly maxMs: number;
}

/** The wait after `unchanged` lookups in a row (at least 1) with the same result. */
export function nextLookupInMs(unchanged: number, { periodMs, maxMs }: LookupRules, monotonicMs: number): number {
  const waitMs = Math.min(periodMs * 2 ** Math.min(unchanged - 1, 30), Math.max(maxMs, periodMs));
  // On the ticks of one clock, so that Nodes that failed one after the other share their calls.
  const tick = Math.round((monotonicMs + waitMs) / periodMs);
  return Math.max(tick * periodMs - monotonicMs, periodMs / 2);
}
