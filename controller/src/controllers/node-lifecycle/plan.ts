import { APPROVE_DELETION } from "../../api/annotations.ts";
import type { Node } from "../../api/node.ts";
import { SHUTDOWN, taintJson } from "../../api/well-known.ts";
import type { JsonObject } from "../../kube/client.ts";
import type { ProviderError } from "../../provider/model/errors.ts";
import type { InstanceResult, InstanceState } from "../../provider/model/instance.ts";
import { countAnswer, ignoredReason } from "./guard/absences.ts";
import { type GuardInput, type Delay, type DelayReason, decide } from "./guard/guard.ts";
import type { NodeRecord } from "./node-history.ts";
import { isExempt, isReady, isShutDown, isShutdownTaint, notReadySinceMs, identityOf } from "./predicates.ts";

/** What was seen of a Node, and what is known of it from before. Nothing of what was seen is remembered yet. */
export type Observation =
  /** It is gone, or another one has its name. */
  | { readonly kind: "vanished" }
  | { readonly kind: "ready"; readonly node: Node; readonly before: NodeRecord | undefined }
  | { readonly kind: "tooNew"; readonly node: Node; readonly youngForMs: number }
  | Answered;

/** A Node that is not Ready, and what its cloud says of its machine. */
export interface Answered extends Pick<Look, "answer" | "reportsShutdown"> {
  readonly kind: "answered";
  readonly node: Node;
  /** Whether the answer says something against whatever else its provider says. */
  readonly makesUntrusted: boolean;
  readonly before: NodeRecord | undefined;
  /** What the guard goes by, as long as the answer does not count. undefined: no provider owns the Node. */
  readonly facts: GuardInput | undefined;
  /** The Node is one of those that go in `facts`. */
  readonly isCounted: boolean;
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** What is to be remembered of an observation. */
export interface News {
  readonly record:
    | { readonly kind: "kept" | "forgotten" | "vanished" }
    | { readonly kind: "put"; readonly record: NodeRecord };
  /** The provider that failed in a way that casts ignored on what else it says. */
  readonly failed?: string | undefined;
  /** The provider that had called a machine absent that is there. */
  readonly contradicted?: string | undefined;
}

/** What is to be remembered, and what the decision rests on once it is. undefined: there is nothing to decide. */
export function fold(seen: Observation): { readonly news: News; readonly input: Input | undefined } {
  switch (seen.kind) {
    case "vanished":
      return { news: { record: { kind: "vanished" } }, input: undefined };
    case "ready": {
      const { node, before } = seen;
      // Its kubelet reports: better evidence than any answer that its machine is there, whatever its provider said.
      const contradicted = before?.absences?.witness.provider;
      return { news: { record: { kind: "forgotten" }, contradicted }, input: { node, look: undefined, youngForMs: 0 } };
    }
    case "tooNew": {
      const { node, youngForMs } = seen;
      return { news: { record: { kind: "kept" } }, input: { node, look: undefined, youngForMs } };
    }
    case "answered":
      return foldAnswer(seen);
    default:
      return seen satisfies never;
  }
}

function foldAnswer(seen: Answered): { readonly news: News; readonly input: Input } {
  const { node, answer, makesUntrusted, reportsShutdown, before, facts, isCounted, monotonicMs } = seen;
  const provider = facts?.provider.name;
  // A machine that was called absent is there: what else was called absent may be there, too, and is counted anew.
  const isContradiction = answer.kind === "present" && before?.absences !== undefined;
  const contradictedAtMs = isContradiction ? monotonicMs : facts?.provider.contradictedAtMs;
  const record = recordOf(seen, provider === undefined ? undefined : contradictedAtMs);
  const news: News = {
    record: { kind: "put", record },
    failed: makesUntrusted ? provider : undefined,
    contradicted: isContradiction ? provider : undefined,
  };
  if (facts === undefined) return { news, input: { node, look: { answer, facts, reportsShutdown }, youngForMs: 0 } };
  const failedAtMs = makesUntrusted || isContradiction ? monotonicMs : facts.provider.failedAtMs;
  const gone = facts.brake.gone - Number(isCounted) + Number(record.isGone);
  const folded: GuardInput = {
    ...facts,
    absences: record.absences,
    provider: { ...facts.provider, failedAtMs, contradictedAtMs },
    brake: { ...facts.brake, gone },
  };
  return { news, input: { node, look: { answer, facts: folded, reportsShutdown }, youngForMs: 0 } };
}

function recordOf(
  { node, answer, before, facts, nowMs, monotonicMs }: Answered,
  contradictedAtMs: number | undefined,
): NodeRecord {
  const absences = countAnswer(before?.absences, answer, {
    contradictedAtMs,
    createdMs: node.metadata.creationTimestampMs,
    notReadySinceMs: notReadySinceMs(node),
    nowMs,
    monotonicMs,
  });
  const picture = pictureOf(node, answer);
  return {
    subject: identityOf(node),
    provider: facts?.provider.name,
    absences,
    // One that is going already was counted as deleted, or is somebody else's deed.
    isGone: absences !== undefined && !isExempt(node) && node.metadata.deletionTimestampMs === undefined,
    picture,
    looks: before?.picture === picture ? before.looks + 1 : 1,
    reported: absences === undefined ? undefined : before?.reported,
  };
}

/** As long as this stays the same, looks become rarer. */
function pictureOf(node: Node, answer: InstanceResult): string {
  const said = answer.kind === "present" ? answer.instance.state : answer.kind;
  return [notReadySinceMs(node), node.spec.providerID, said, isExempt(node)].join(" ");
}

/** What a decision about one Node rests on. */
export interface Input {
  readonly node: Node;
  /** undefined: the cloud was not asked, for the Node is Ready or too young. */
  readonly look: Look | undefined;
  /** How long it is too young; 0: it is not. */
  readonly youngForMs: number;
}

/** What the cloud was asked about a Node that is not Ready, and what else the guard goes by. */
export interface Look {
  readonly answer: InstanceResult;
  /** undefined: no provider can be named that owns the Node. */
  readonly facts: GuardInput | undefined;
  /** The provider can tell a stopped machine. */
  readonly reportsShutdown: boolean;
}

export type Plan =
  | { readonly kind: "ready"; readonly node: Node; readonly needsPatch: boolean }
  /** Not Ready, but so young that nothing would follow whatever the cloud said. */
  | { readonly kind: "tooNew"; readonly lookInMs: number }
  /** Its machine exists. */
  | { readonly kind: "exists"; readonly node: Node; readonly taint: ShutdownTaint; readonly needsPatch: boolean }
  /** The machine is another provider's, or nobody's: not ours to touch. */
  | { readonly kind: "notOwned"; readonly message: string }
  /** Nothing may be concluded. */
  | { readonly kind: "unknown"; readonly error: ProviderError }
  /** Somebody has asked for its deletion already. */
  | { readonly kind: "alreadyDeleting" }
  /** Its machine is said to be absent; it stays for now. */
  | { readonly kind: "hold"; readonly node: Node; readonly hold: Delay; readonly tell: boolean }
  | { readonly kind: "delete"; readonly node: Node; readonly provider: string };

/** A hold that only time is needed for is reported when it has lasted longer than this: then more is needed. */
const REPORT_DELAY_AFTER_MS = 300_000;

/** Holds that somebody should know of at once: an operator can end them, or should see why a dead Node stays. */
const REPORTED_IMMEDIATELY: ReadonlySet<DelayReason> = new Set([
  "providerUntrusted",
  "providerErrors",
  "tooManyNodeDeletions",
]);

/** What to do about one Node, given what its cloud says. */
export function plan({ node, look, youngForMs }: Input, nowMs: number): Plan {
  if (isReady(node)) return { kind: "ready", node, needsPatch: nodePatch(node, "off") !== undefined };
  if (look === undefined) return { kind: "tooNew", lookInMs: youngForMs };
  const { answer, facts, reportsShutdown } = look;
  switch (answer.kind) {
    case "present": {
      const taint = reportsShutdown ? taintFor(answer.instance.state) : "keep";
      return { kind: "exists", node, taint, needsPatch: nodePatch(node, taint) !== undefined };
    }
    case "notOwned":
      return { kind: "notOwned", message: answer.message };
    case "unknown":
      return { kind: "unknown", error: answer.error };
    case "absent":
      return planAbsent(node, facts, ignoredReasonOf(node, answer, facts), nowMs);
    default:
      return answer satisfies never;
  }
}

/** Machines on their way from one state to the other keep the taint as it is. */
function taintFor(state: InstanceState): ShutdownTaint {
  if (state === "stopped") return "on";
  return state === "running" ? "off" : "keep";
}

function planAbsent(node: Node, facts: GuardInput | undefined, ignored: string | undefined, nowMs: number): Plan {
  if (node.metadata.deletionTimestampMs !== undefined) return { kind: "alreadyDeleting" };
  if (facts === undefined) return planDelayed(node, UNOWNED, ignored, nowMs);
  const decision = decide(facts);
  if (decision.kind === "delete") return { kind: "delete", node, provider: facts.provider.name };
  return planDelayed(node, decision, ignored, nowMs);
}

function planDelayed(node: Node, decision: Delay, ignored: string | undefined, nowMs: number): Plan {
  const hold =
    decision.reason === "unconfirmed" && ignored !== undefined ? { ...decision, message: ignored } : decision;
  const tell = REPORTED_IMMEDIATELY.has(hold.reason) || nowMs - notReadySinceMs(node) > REPORT_DELAY_AFTER_MS;
  return { kind: "hold", node, hold, tell };
}

const UNOWNED: Delay = {
  kind: "hold",
  reason: "unconfirmed",
  message: "no provider owns the Node at this moment",
  endsInMs: undefined,
};

function ignoredReasonOf(
  node: Node,
  answer: InstanceResult & { readonly kind: "absent" },
  facts: GuardInput | undefined,
): string | undefined {
  return facts === undefined ? undefined : ignoredReason(answer, { ...facts, notReadySinceMs: notReadySinceMs(node) });
}

/** What becomes of the shutdown taint: a stopped machine has it, a running one has not; else it stays as it is. */
export type ShutdownTaint = "on" | "off" | "keep";

/**
 * Strategic merge patch for a Node whose machine exists; undefined: nothing to change. `spec.taints` has no merge key on the server,
 * so the whole list is sent, and resourceVersion makes the server refuse it if anybody has put on a taint meanwhile.
 */
export function nodePatch(node: Node, wish: ShutdownTaint): JsonObject | undefined {
  const taints = taintsPatch(node, isReady(node) ? "off" : wish);
  const annotations = APPROVE_DELETION in node.metadata.annotations ? { [APPROVE_DELETION]: null } : undefined;
  if (taints === undefined && annotations === undefined) return undefined;
  const { uid, resourceVersion } = node.metadata;
  return {
    metadata: { uid, resourceVersion, ...(annotations === undefined ? {} : { annotations }) },
    ...(taints === undefined ? {} : { spec: { taints } }),
  };
}

function taintsPatch(node: Node, wish: ShutdownTaint): readonly JsonObject[] | null | undefined {
  if (wish === "keep" || isShutDown(node) === (wish === "on")) return undefined;
  const others = node.spec.taints.filter((taint) => !isShutdownTaint(taint)).map((taint) => taintJson(taint));
  if (wish === "on") return [...others, { key: SHUTDOWN, effect: "NoSchedule" }];
  return others.length === 0 ? null : others;
}

/** How often a Node that is not Ready is looked at. */
export interface PollIntervalRules {
  /** --node-monitor-period. */
  readonly periodMs: number;
  /** Never less often: before any Node goes, every other one that is not Ready has been looked at too, and counts for the brake. */
  readonly maxMs: number;
}

/** The wait after the `looks`-th look in a row that showed the same, from 1. */
export function nextPollInMs(looks: number, rules: PollIntervalRules, monotonicMs: number): number {
  const { periodMs, maxMs } = rules;
  const waitMs = Math.min(periodMs * 2 ** Math.min(looks - 1, 30), Math.max(maxMs, periodMs));
  // On the ticks of one clock, so that Nodes that failed one after the other share their calls from then on.
  const tick = Math.round((monotonicMs + waitMs) / periodMs);
  return Math.max(tick * periodMs - monotonicMs, periodMs / 2);
}
