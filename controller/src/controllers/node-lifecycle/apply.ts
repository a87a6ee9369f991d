import type { Node } from "../../api/node.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import { NODES } from "../../kube/resources/node.ts";
import type { OwnWrites } from "../../kube/cache/store.ts";
import { DONE, type ReconcileContext, type Result, type Why, requeueAfter } from "../../runtime/reconciler.ts";
import type { Clock } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";
import type { DeletionHistory } from "./deletion-history.ts";
import { deletingNode, deletingNodeFailed, nodeDeletionDelayed } from "./events.ts";
import type { NodeLifecycleMetrics } from "./metrics.ts";
import type { NodeRecords, ProviderHistory } from "./node-history.ts";
import { type News, type PollIntervalRules, type Plan, type ShutdownTaint, nodePatch, nextPollInMs } from "./plan.ts";
import { type GuardInput, type Delay, decide } from "./guard/guard.ts";

/** What this step writes with. */
export interface ApplyDependencies {
  readonly kube: Pick<KubeClient, "get" | "patch" | "delete">;
  readonly events: EventRecorder;
  readonly metrics: NodeLifecycleMetrics;
  readonly records: NodeRecords;
  readonly memory: ProviderHistory;
  readonly deletions: DeletionHistory;
  readonly ownWrites: OwnWrites<Node>;
  readonly clock: Clock;
  readonly pace: PollIntervalRules;
  /** The guard's facts at this moment. */
  readonly guardInputOf: (node: Node) => GuardInput | undefined;
}

/** Conflicts in a row before the queue's back-off takes over, as upstream's taint helper. */
const MAX_TRIES = 5;

/** A hold is over a little later than computed, for the cloud reads before its answer arrives here. */
const SLACK_MS = 250;

/** What still holds is said again, for events live for an hour. */
const REPORT_AGAIN_MS = 1_800_000;

/** Remembers what was seen, at the moment at which it is: what was seen of other Nodes meanwhile stays. */
export function commit(
  { record, failed, contradicted }: News,
  { records, memory, ownWrites, clock }: Pick<ApplyDependencies, "records" | "memory" | "ownWrites" | "clock">,
  key: string,
): void {
  const nowMs = clock.monotonicMs();
  if (failed !== undefined) memory.failed(failed, nowMs);
  if (contradicted !== undefined) memory.contradicted(contradicted, nowMs);
  switch (record.kind) {
    case "kept":
      return;
    case "put":
      return records.put(key, record.record);
    case "forgotten":
      return records.forget(key);
    case "vanished":
      ownWrites.forget(key);
      return records.vanished(key);
    default:
      record satisfies never;
  }
}

/** Sees to it that a deletion is not forgotten, whatever happens to this process. Those that are announced together cost one write. */
export async function announce(
  plan: Plan,
  { records, deletions }: Pick<ApplyDependencies, "records" | "deletions">,
  { key, signal }: ReconcileContext,
): Promise<Disposable | undefined> {
  if (plan.kind !== "delete" || !records.counts(key)) return undefined;
  return deletions.announce(plan.provider, signal);
}

/** Carries the plan out and says when to look again. */
export async function apply(plan: Plan, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { metrics } = deps;
  if (plan.kind !== "ready") metrics.decisions.inc({ decision: plan.kind === "hold" ? plan.hold.reason : plan.kind });
  switch (plan.kind) {
    case "ready":
      if (plan.needsPatch) await ignoreGone(patchNode(plan.node, "off", deps, context));
      return DONE;
    case "tooNew":
      return requeueAfter(plan.lookInMs + SLACK_MS);
    case "exists":
      if (plan.needsPatch) await ignoreGone(patchNode(plan.node, plan.taint, deps, context));
      break;
    case "notOwned":
      context.log.debug(2, "Node is left alone: no provider owns its machine", { why: plan.message });
      break;
    case "unknown":
      context.log.debug(2, "Nothing is known of the node's machine", { err: plan.error });
      return lookAgain(deps, context, {
        why: { reason: "unknown", message: plan.error.message },
        atLeastMs: plan.error.retryAfterMs,
      });
    case "alreadyDeleting":
      break;
    case "hold":
      return delayDeletion(plan.node, plan.hold, plan.tell, deps, context);
    case "delete":
      return deleteNode(plan.node, deps, context);
    default:
      return plan satisfies never;
  }
  return lookAgain(deps, context);
}

function delayDeletion(
  node: Node,
  hold: Delay,
  tell: boolean,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Result {
  context.log.debug(2, "Node is not deleted for now", { reason: hold.reason, why: hold.message });
  if (tell) reportOnce(node, hold, deps, context);
  const { reason, message } = hold;
  const why = { reason, message };
  return hold.endsInMs === undefined
    ? lookAgain(deps, context, { why })
    : requeueAfter(Math.max(hold.endsInMs + SLACK_MS, deps.pace.periodMs / 2), why);
}

function reportOnce(node: Node, hold: Delay, deps: ApplyDependencies, { key, log }: ReconcileContext): void {
  const { records, events, clock } = deps;
  const record = records.get(node);
  const nowMs = clock.monotonicMs();
  const reported = record?.reported;
  if (record === undefined || (reported?.reason === hold.reason && nowMs - reported.atMs < REPORT_AGAIN_MS)) return;
  records.put(key, { ...record, reported: { reason: hold.reason, atMs: nowMs } });
  events.record(nodeDeletionDelayed(node, hold));
  log.info("Node is not deleted although its machine is said to be absent", { reason: hold.reason, why: hold.message });
}

async function deleteNode(node: Node, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { kube, events, metrics, records } = deps;
  const { key, signal, log } = context;
  // Waiting for a turn to write took time: whatever has come up meanwhile counts.
  const facts = deps.guardInputOf(node);
  const decision = facts === undefined ? undefined : decide(facts);
  if (facts === undefined || decision?.kind !== "delete") return lookAgain(deps, context);
  const { uid, resourceVersion, name } = node.metadata;
  const provider = facts.provider.name;
  events.record(deletingNode(node));
  try {
    // The version too: a Node that has changed since, by becoming Ready above all, is judged anew.
    await kube.delete(NODES, { name }, { signal, preconditions: { uid, resourceVersion } });
  } catch (error) {
    if (isApiError(error, "notFound")) return DONE;
    if (isApiError(error, "conflict")) return requeueAfter(deps.pace.periodMs);
    if (isApiError(error, "transient")) records.mayBeDeleted(key, provider);
    // Nobody looks again: this controller ends.
    if (isApiError(error, "aborted")) records.deleted(key, provider);
    events.record(deletingNodeFailed(node, messageOf(error)));
    throw error;
  }
  records.deleted(key, provider);
  metrics.deletions.inc({ provider });
  log.info("Node deleted: its machine does not exist", { providerID: node.spec.providerID, absences: facts.absences });
  return DONE;
}

async function patchNode(
  node: Node,
  taint: ShutdownTaint,
  { kube, ownWrites }: ApplyDependencies,
  { signal }: ReconcileContext,
): Promise<void> {
  const { name, uid } = node.metadata;
  let current = node;
  for (let tries = 1; ; tries++) {
    const body = nodePatch(current, taint);
    if (body === undefined || current.metadata.uid !== uid) return;
    try {
      ownWrites.note(current, await kube.patch(NODES, { name }, { kind: "strategic", body }, { signal }));
      return;
    } catch (error) {
      if (!isApiError(error, "conflict") || tries === MAX_TRIES) throw error;
      current = await kube.get(NODES, { name }, { signal });
    }
  }
}

function lookAgain(
  { records, pace, clock }: ApplyDependencies,
  { key }: ReconcileContext,
  { why, atLeastMs = 0 }: { readonly why?: Why; readonly atLeastMs?: number | undefined } = {},
): Result {
  return requeueAfter(Math.max(nextPollInMs(records.looksOf(key), pace, clock.monotonicMs()), atLeastMs), why);
}

/** A Node that went away meanwhile needs nothing more. */
async function ignoreGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isApiError(error, "notFound")) throw error;
  }
}
