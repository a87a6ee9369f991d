import type { Node } from "../../api/node.ts";
import type { JsonObject, KubeClient, WriteOptions } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import { NODES } from "../../kube/resources/node.ts";
import { retryDelayMs } from "../../provider/model/errors.ts";
import { type ReconcileContext, type Result, type Why, requeueAfter } from "../../runtime/reconciler.ts";
import type { Clock } from "../../util/clock.ts";
import { RetryAfterError, messageOf } from "../../util/errors.ts";
import {
  type DroppedLabels,
  type NodeCache,
  REPORT_DELAY_AFTER_MS,
  REPORT_NO_ADDRESS_AFTER_MS,
  REPORT_UNOWNED_AFTER_MS,
} from "./node-cache.ts";
import { differs, initializeNodeDelayed, initializeNodeFailed, synced } from "./events.ts";
import type { NodeMetrics } from "./metrics.ts";
import { type Initialize, type Leave, type NotInitialized, type Plan, planInitialize, type Update } from "./plan.ts";
import { isUninitialized } from "./predicates.ts";

export interface ApplyDependencies {
  readonly kube: Pick<KubeClient, "get" | "patch">;
  readonly events: EventRecorder;
  readonly metrics: NodeMetrics;
  readonly cache: NodeCache;
  readonly droppedLabels: DroppedLabels;
  readonly clock: Clock;
}

/** The Node keeps its taint. */
class NodeNotInitializedError extends Error {
  readonly code = "NODE_NOT_INITIALIZED";
  readonly why: Why;

  constructor(message: string, why: Why, options?: ErrorOptions) {
    super(message, options);
    this.name = "NodeNotInitializedError";
    this.why = why;
  }
}

/** Conflicts in a row before the queue's back-off takes over. Upstream retries 20 times against a cache that cannot have changed. */
const MAX_TRIES = 5;

/** Between two lookups of the instance of a Node without IP address. */
const NO_ADDRESS_LOOKUP_MS = 30_000;

/** Makes at most two writes for a Node, and requeues it for the next tick or for the next report. */
export async function apply(plan: Plan, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { cache } = deps;
  // Differences of a deleted Node of the same name are reported again.
  if (plan.kind !== "update") cache.differences.forget(context.key);
  switch (plan.kind) {
    case "leave":
      return leave(plan, deps, context);
    case "notInitialized":
      return refuse(plan, deps, context);
    case "update":
      cache.waiting.forget(context.key);
      // Another client has removed the taint, and may add it again.
      cache.addressWaits.forget(context.key);
      return update(plan, deps, context);
    case "initialize":
      await initializeOrReport(plan, deps, context);
      cache.waiting.forget(context.key);
      cache.addressWaits.forget(context.key);
      return requeueAfter(untilNextLookupMs(plan, cache));
  }
  return plan satisfies never;
}

function leave({ node, message }: Leave, { cache, events }: ApplyDependencies, { key, log }: ReconcileContext): Result {
  log.debug(2, "Skipped Node: no provider owns it", { detail: message });
  const reason = "unowned";
  const reportAfterMs = REPORT_UNOWNED_AFTER_MS;
  const { report, reportInMs } = cache.waiting.add(key, { reason, topic: reason, reportAfterMs });
  if (report) {
    const minutes = REPORT_UNOWNED_AFTER_MS / 60_000;
    events.record(initializeNodeFailed(node, `no provider has owned it for ${minutes} min: ${message}`, reason));
  }
  const tickInMs = cache.refreshes.untilNextMs();
  return requeueAfter(reportInMs === 0 ? tickInMs : Math.min(reportInMs, tickInMs), { reason, message });
}

function untilNextLookupMs({ hasNoAddress }: Initialize | Update, { refreshes }: NodeCache): number {
  const tickInMs = refreshes.untilNextMs();
  return hasNoAddress ? Math.min(tickInMs, NO_ADDRESS_LOOKUP_MS) : tickInMs;
}

function refuse(plan: NotInitialized, { events, cache }: ApplyDependencies, { key }: ReconcileContext): never {
  const { node, reason, message, cause, reportNow } = plan;
  const { report, failures } = cache.waiting.add(key, {
    reason,
    topic: reportNow ? message : reason,
    reportAfterMs: reportNow ? 0 : reason === "noAddress" ? REPORT_NO_ADDRESS_AFTER_MS : REPORT_DELAY_AFTER_MS,
  });
  const event = reportNow ? initializeNodeFailed : initializeNodeDelayed;
  if (report) events.record(event(node, message, reason, cause?.class));
  const delayMs = cause === undefined ? plan.retryAfterMs : retryDelayMs(cause, failures);
  const why = { reason: reason === "absent" && !reportNow ? "notSeenYet" : reason, message };
  const text = `initialize node ${node.metadata.name}: ${message}`;
  const error = new NodeNotInitializedError(text, why, { cause });
  throw delayMs === undefined ? error : new RetryAfterError(text, delayMs, { cause: error });
}

async function update(plan: Update, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { node, labelsPatch, statusPatch, differences } = plan;
  const { cache } = deps;
  const { repairs } = cache;
  const { key } = context;
  report(plan, deps, context);
  const tickInMs = untilNextLookupMs(plan, cache);
  const waitMs = labelsPatch === undefined ? 0 : repairs.waitMs(key);
  try {
    // Labels first: their patch is valid only for the resource version that it was planned from.
    if (labelsPatch !== undefined && waitMs === 0) {
      await patch(node, labelsPatch, deps, context, { isFirstOfMore: statusPatch !== undefined });
      repairs.done(key);
    }
    if (statusPatch !== undefined) await patch(node, statusPatch, deps, context, { subresource: "status" });
  } catch (error) {
    if (!isApiError(error, "notFound")) throw error;
  }
  const message = differences.map((difference) => difference.message).join("; ");
  const why = differences.length === 0 ? undefined : { reason: "differs", message };
  return requeueAfter(waitMs === 0 ? tickInMs : Math.min(waitMs, tickInMs), why);
}

function report(
  plan: Update,
  { cache, events, droppedLabels }: ApplyDependencies,
  { key, log }: ReconcileContext,
): void {
  for (const difference of cache.differences.replace(key, plan.differences)) {
    events.record(differs(plan.node, difference));
    log.warn("Node differs from its instance in the cloud", { ...difference });
  }
  for (const label of droppedLabels.unreported(plan.droppedLabels)) {
    log.warn("Dropped a label of the cloud for all Nodes", { ...label });
  }
}

/** A write that the API server keeps rejecting also keeps the taint. */
async function initializeOrReport(plan: Initialize, deps: ApplyDependencies, context: ReconcileContext): Promise<void> {
  try {
    await initialize(plan, deps, context);
  } catch (error) {
    if (isApiError(error, "notFound")) return;
    const reason = "write";
    const attempt = { reason, topic: reason, reportAfterMs: REPORT_DELAY_AFTER_MS } as const;
    const isDue = deps.cache.waiting.add(context.key, attempt).report;
    if (isDue) deps.events.record(initializeNodeDelayed(plan.node, messageOf(error), reason));
    throw error;
  }
}

async function initialize(plan: Initialize, deps: ApplyDependencies, context: ReconcileContext): Promise<void> {
  for (const warning of plan.instance.warnings) {
    context.log.warn("Ignored a part of the provider's response", { warning });
  }
  let current: Initialize | undefined = plan;
  for (let tries = 1; ; tries++) {
    current = await writeAddresses(current, deps, context);
    if (current === undefined) return;
    try {
      const node = await patch(current.node, current.nodePatch, deps, context, {});
      return finish(node, deps, context);
    } catch (error) {
      if (!isApiError(error, "conflict") || tries === MAX_TRIES) throw error;
      const { name } = current.node.metadata;
      current = planAgain(current, await deps.kube.get(NODES, { name }, { signal: context.signal }));
      if (current === undefined) return;
    }
  }
}

/** Writes addresses first: a pod must not be scheduled to a Node without them. Returns the plan for the written Node. */
async function writeAddresses(
  plan: Initialize,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Promise<Initialize | undefined> {
  if (plan.statusPatch === undefined) return plan;
  const options = { subresource: "status", isFirstOfMore: true };
  return planAgain(plan, await patch(plan.node, plan.statusPatch, deps, context, options));
}

/** Plans a newer version of the Node with the same instance. undefined: the Node was replaced, or has lost its taint. */
function planAgain(plan: Initialize, node: Node): Initialize | undefined {
  if (node.metadata.uid !== plan.node.metadata.uid || !isUninitialized(node)) return undefined;
  const again = planInitialize(node, plan.instance);
  if (again.kind === "initialize") return again;
  const { reason, message } = again;
  throw new NodeNotInitializedError(`initialize node ${node.metadata.name}: ${message}`, { reason, message });
}

function finish(node: Node, { events, metrics, clock }: ApplyDependencies, { log }: ReconcileContext): void {
  const delaySeconds = Math.max(0, clock.nowMs() - node.metadata.creationTimestampMs) / 1000;
  metrics.taintRemovalDelaySeconds.observe(delaySeconds);
  metrics.initialSyncDelaySeconds.observe(delaySeconds);
  events.record(synced(node));
  log.info("Initialized Node", { node: node.metadata.name, providerID: node.spec.providerID, delaySeconds });
}

async function patch(
  node: Node,
  body: JsonObject,
  { kube, cache }: ApplyDependencies,
  { signal }: ReconcileContext,
  how: Pick<WriteOptions, "subresource" | "isFirstOfMore">,
): Promise<Node> {
  const options = { signal, ...how };
  const written = await kube.patch(NODES, { name: node.metadata.name }, { kind: "strategic", body }, options);
  cache.ownWrites.note(node, written);
  return written;
}
