import { RELEASE_DELETION } from "../../api/annotations.ts";
import type { Node } from "../../api/node.ts";
import { SHUTDOWN, taintJson } from "../../api/well-known.ts";
import type { JsonObject } from "../../kube/client.ts";
import type { ProviderError } from "../../provider/model/errors.ts";
import type { InstanceAnswer, InstanceState } from "../../provider/model/instance.ts";
import { doubtOf } from "./guard/absences.ts";
import { type Case, type Hold, type HoldReason, judge } from "./guard/guard.ts";
import { isReady, isShutDown, isShutdownTaint, notReadySinceMs } from "./predicates.ts";

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
  readonly answer: InstanceAnswer;
  /** undefined: no provider can be named that owns the Node. */
  readonly facts: Case | undefined;
  /** The provider can tell a stopped machine. */
  readonly tellsShutdown: boolean;
}

export type Plan =
  | { readonly kind: "ready"; readonly node: Node; readonly needsPatch: boolean }
  /** Not Ready, but so young that nothing would follow whatever the cloud said. */
  | { readonly kind: "young"; readonly lookInMs: number }
  /** Its machine exists. */
  | { readonly kind: "exists"; readonly node: Node; readonly taint: ShutdownTaint; readonly needsPatch: boolean }
  /** The machine is another provider's, or nobody's: not ours to touch. */
  | { readonly kind: "leave"; readonly message: string }
  /** Nothing may be concluded. */
  | { readonly kind: "unknown"; readonly error: ProviderError }
  /** Somebody has asked for its deletion already. */
  | { readonly kind: "going" }
  /** Its machine is said to be absent; it stays for now. */
  | { readonly kind: "hold"; readonly node: Node; readonly hold: Hold; readonly tell: boolean }
  | { readonly kind: "delete"; readonly node: Node; readonly provider: string };

/** A hold that only time is needed for is told when it has lasted longer than this: then more is needed. */
const HOLD_IS_NEWS_AFTER_MS = 300_000;

/** Holds that somebody should know of at once: an operator can end them, or should see why a dead Node stays. */
const TOLD_AT_ONCE: ReadonlySet<HoldReason> = new Set(["providerDoubted", "providerFailed", "brake"]);

/** What to do about one Node, given what its cloud says. */
export function plan({ node, look, youngForMs }: Input, nowMs: number): Plan {
  if (isReady(node)) return { kind: "ready", node, needsPatch: nodePatch(node, "off") !== undefined };
  if (look === undefined) return { kind: "young", lookInMs: youngForMs };
  const { answer, facts, tellsShutdown } = look;
  switch (answer.kind) {
    case "present": {
      const taint = tellsShutdown ? taintFor(answer.instance.state) : "keep";
      return { kind: "exists", node, taint, needsPatch: nodePatch(node, taint) !== undefined };
    }
    case "notMine":
      return { kind: "leave", message: answer.message };
    case "unknown":
      return { kind: "unknown", error: answer.error };
    case "absent":
      return planAbsent(node, facts, doubtAbout(node, answer, facts), nowMs);
    default:
      return answer satisfies never;
  }
}

/** Machines on their way from one state to the other keep the taint as it is. */
function taintFor(state: InstanceState): ShutdownTaint {
  if (state === "stopped") return "on";
  return state === "running" ? "off" : "keep";
}

function planAbsent(node: Node, facts: Case | undefined, doubt: string | undefined, nowMs: number): Plan {
  if (node.metadata.deletionTimestampMs !== undefined) return { kind: "going" };
  if (facts === undefined) return planHeld(node, UNOWNED, doubt, nowMs);
  const verdict = judge(facts);
  if (verdict.kind === "delete") return { kind: "delete", node, provider: facts.standing.name };
  return planHeld(node, verdict, doubt, nowMs);
}

function planHeld(node: Node, verdict: Hold, doubt: string | undefined, nowMs: number): Plan {
  const hold = verdict.reason === "unconfirmed" && doubt !== undefined ? { ...verdict, message: doubt } : verdict;
  const tell = TOLD_AT_ONCE.has(hold.reason) || nowMs - notReadySinceMs(node) > HOLD_IS_NEWS_AFTER_MS;
  return { kind: "hold", node, hold, tell };
}

const UNOWNED: Hold = {
  kind: "hold",
  reason: "unconfirmed",
  message: "no provider owns the Node at this moment",
  overInMs: undefined,
};

function doubtAbout(
  node: Node,
  answer: InstanceAnswer & { readonly kind: "absent" },
  facts: Case | undefined,
): string | undefined {
  return facts === undefined ? undefined : doubtOf(answer, { ...facts, notReadySinceMs: notReadySinceMs(node) });
}

/** What becomes of the shutdown taint: a stopped machine has it, a running one has not; else it stays as it is. */
export type ShutdownTaint = "on" | "off" | "keep";

/**
 * Strategic merge patch for a Node whose machine exists; undefined: nothing to change. `spec.taints` has no merge key on the server,
 * so the whole list is sent, and resourceVersion makes the server refuse it if anybody has put on a taint meanwhile.
 */
export function nodePatch(node: Node, wish: ShutdownTaint): JsonObject | undefined {
  const taints = taintsPatch(node, isReady(node) ? "off" : wish);
  const annotations = RELEASE_DELETION in node.metadata.annotations ? { [RELEASE_DELETION]: null } : undefined;
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
export interface PaceRules {
  /** --node-monitor-period. */
  readonly periodMs: number;
  /** Never less often: before any Node goes, every other one that is not Ready has been looked at too, and counts for the brake. */
  readonly maxMs: number;
}

/** The wait after the `looks`-th look in a row that showed the same, from 1. */
export function untilNextLookMs(looks: number, rules: PaceRules, monotonicMs: number): number {
  const { periodMs, maxMs } = rules;
  const waitMs = Math.min(periodMs * 2 ** Math.min(looks - 1, 30), Math.max(maxMs, periodMs));
  // On the ticks of one clock, so that Nodes that failed one after the other share their calls from then on.
  const tick = Math.round((monotonicMs + waitMs) / periodMs);
  return Math.max(tick * periodMs - monotonicMs, periodMs / 2);
}
