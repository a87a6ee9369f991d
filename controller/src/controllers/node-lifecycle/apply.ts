import type { Node } from "../../api/node.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import { NODES } from "../../kube/resources/node.ts";
import type { OwnWrites } from "../../kube/cache/store.ts";
import { DONE, type ReconcileContext, type Result, type Why, requeueAfter } from "../../runtime/reconciler.ts";
import type { Clock } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";
import type { TokenBucket } from "../../util/token-bucket.ts";
import type { DeletionHistory } from "./deletion-history.ts";
import { deletingNode, deletingNodeFailed, nodeDeletionDelayed } from "./events.ts";
import type { NodeLifecycleMetrics } from "./metrics.ts";
import type { NodeRecords, ProviderHistory } from "./node-history.ts";
import {
  type KeptReason,
  type News,
  type LookupRules,
  type Plan,
  type ShutdownTaint,
  nodePatch,
  nextLookupInMs,
} from "./plan.ts";
import { type GuardInput, decide } from "./guard/guard.ts";

export interface ApplyDependencies {
  readonly kube: Pick<KubeClient, "get" | "patch" | "delete">;
  readonly events: EventRecorder;
  readonly metrics: NodeLifecycleMetrics;
  readonly records: NodeRecords;
  readonly providerHistory: ProviderHistory;
  readonly deletions: DeletionHistory;
  readonly ownWrites: OwnWrites<Node>;
  readonly clock: Clock;
  readonly lookups: LookupRules;
  readonly guardInputOf: (node: Node, provider: string) => GuardInput | undefined;
  /** An outage of a provider leaves many results unknown. */
  readonly reportLimit: TokenBucket;
}

/** Conflicts in a row before the queue's back-off takes over, as upstream's taint helper. */
const MAX_TRIES = 5;

/** A delay ends a little later than computed, because the cloud is read before its response arrives. */
const SLACK_MS = 250;

/** A lasting delay is reported again, because events expire after an hour. */
const REPORT_AGAIN_MS = 1_800_000;

/** Commits what a reconcile observed when it is applied, so that observations of other Nodes in the meantime are kept. */
export function commit(
  { record, failed, contradicted }: News,
  { records, providerHistory, ownWrites, clock }: ApplyDependencies,
  key: string,
): void {
  const nowMs = clock.monotonicMs();
  if (failed !== undefined) providerHistory.failed(failed, nowMs);
  if (contradicted !== undefined) providerHistory.contradicted(contradicted, nowMs);
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

/** Records a coming deletion on the Lease, so that it counts after a crash. Concurrent deletions share one write. */
export async function announce(
  plan: Plan,
  { records, deletions }: ApplyDependencies,
  { key, signal }: ReconcileContext,
): Promise<Disposable | undefined> {
  if (plan.kind !== "delete" || !records.counts(key)) return undefined;
  return deletions.announce(plan.provider, signal);
}

export async function apply(plan: Plan, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { log } = context;
  if (plan.kind !== "ready") {
    deps.metrics.decisions.inc({ decision: plan.kind === "delayed" ? plan.delay.reason : plan.kind });
  }
  switch (plan.kind) {
    case "ready":
      if (plan.needsPatch) await patchNode(plan.node, "off", deps, context);
      return DONE;
    case "tooNew":
      return requeueAfter(plan.lookupInMs + SLACK_MS);
    case "exists":
      if (plan.needsPatch) await patchNode(plan.node, plan.taint, deps, context);
      return lookAgain(deps, context);
    case "notOwned": {
      const why = { reason: plan.kind, message: plan.message };
      log.debug(2, "Skipped Node: no provider owns its instance", { detail: plan.message });
      if (plan.report) reportOnce(plan.node, why, deps, context);
      return lookAgain(deps, context, why);
    }
    case "unknown": {
      const { error } = plan;
      const why = { reason: plan.kind, message: error.message };
      log.debug(2, "Could not look up the Node's instance", { err: error });
      if (plan.report) reportOnce(plan.node, why, deps, context);
      return lookAgain(deps, context, why, error.retryAfterMs);
    }
    case "alreadyDeleting":
      return lookAgain(deps, context);
    case "delayed":
      return delayDeletion(plan, deps, context);
    case "delete":
      return deleteNode(plan, deps, context);
  }
  return plan satisfies never;
}

function delayDeletion(
  { node, delay, report }: Extract<Plan, { kind: "delayed" }>,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Result {
  const { reason, message, endsInMs } = delay;
  context.log.debug(2, "Delayed deletion of Node", { reason, detail: message });
  if (report) reportOnce(node, delay, deps, context);
  const why = { reason, message };
  if (endsInMs === undefined) return lookAgain(deps, context, why);
  return requeueAfter(Math.max(endsInMs + SLACK_MS, deps.lookups.periodMs / 2), why);
}

function reportOnce(
  node: Node,
  why: Why & { readonly reason: KeptReason },
  { records, events, clock, reportLimit }: ApplyDependencies,
  { key, log }: ReconcileContext,
): void {
  const { reason, message } = why;
  const record = records.get(node);
  const nowMs = clock.monotonicMs();
  if (record === undefined || nowMs - (record.reported[reason] ?? Number.NEGATIVE_INFINITY) < REPORT_AGAIN_MS) return;
  if (reason === "unknown" && !reportLimit.tryTake()) return;
  records.put(key, { ...record, reported: { ...record.reported, [reason]: nowMs } });
  events.record(nodeDeletionDelayed(node, why));
  log.info("Did not delete a Node that is not Ready", { reason, detail: message });
}

async function deleteNode(
  { node, provider }: Extract<Plan, { kind: "delete" }>,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Promise<Result> {
  const { kube, events, metrics, records } = deps;
  const { key, signal, log } = context;
  // Decide again, because waiting for a writer took time.
  const facts = deps.guardInputOf(node, provider);
  if (facts === undefined || decide(facts).kind !== "delete") return lookAgain(deps, context);
  const { uid, resourceVersion, name } = node.metadata;
  events.record(deletingNode(node));
  try {
    // With the version too: a Node that has changed, in particular one that is Ready again, is evaluated again.
    await kube.delete(NODES, { name }, { signal, preconditions: { uid, resourceVersion } });
  } catch (error) {
    if (isApiError(error, "notFound")) return DONE;
    if (isApiError(error, "conflict")) return requeueAfter(deps.lookups.periodMs);
    if (isApiError(error, "transient")) records.mayBeDeleted(key, provider);
    // The controller stops, so that nothing can observe the outcome.
    if (isApiError(error, "aborted")) records.deleted(key, provider);
    events.record(deletingNodeFailed(node, messageOf(error)));
    throw error;
  }
  records.deleted(key, provider);
  metrics.deletions.inc({ provider });
  const { absences } = facts;
  log.info("Deleted Node: its instance does not exist", { providerID: node.spec.providerID, absences });
  return DONE;
}

/** A Node that is deleted in the meantime needs no patch. */
async function patchNode(
  node: Node,
  taint: ShutdownTaint,
  { kube, ownWrites }: ApplyDependencies,
  { signal }: ReconcileContext,
): Promise<void> {
  const { name, uid } = node.metadata;
  let current = node;
  try {
    for (let tries = 1; ; tries++) {
      const body = nodePatch(current, taint);
      if (body === undefined || current.metadata.uid !== uid) return;
      try {
        return ownWrites.note(current, await kube.patch(NODES, { name }, { kind: "strategic", body }, { signal }));
      } catch (error) {
        if (!isApiError(error, "conflict") || tries === MAX_TRIES) throw error;
        current = await kube.get(NODES, { name }, { signal });
      }
    }
  } catch (error) {
    if (!isApiError(error, "notFound")) throw error;
  }
}

function lookAgain(
  { records, lookups, clock }: ApplyDependencies,
  { key }: ReconcileContext,
  why?: Why,
  atLeastMs = 0,
): Result {
  const delayMs = nextLookupInMs(records.unchangedLookups(key), lookups, clock.monotonicMs());
  return requeueAfter(Math.max(delayMs, atLeastMs), why);
}
