import type { Node } from "../../api/node.ts";
import type { JsonObject, KubeClient, WriteOptions } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import { NODES } from "../../kube/resources/node.ts";
import { retryDelayMs } from "../../provider/model/errors.ts";
import { type ReconcileContext, type Result, type Why, requeueAfter } from "../../runtime/reconciler.ts";
import type { Clock } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";
import { DELAY_IS_NEWS_AFTER_MS, type DroppedLabels, type NodeCache, UNOWNED_IS_NEWS_AFTER_MS } from "./node-cache.ts";
import { differs, initializeNodeDelayed, initializeNodeFailed, synced } from "./events.ts";
import type { NodeMetrics } from "./metrics.ts";
import { type Initialize, type Leave, type NotInitialized, type Plan, planInitialize, type Update } from "./plan.ts";
import { isUninitialized } from "./predicates.ts";

/** What this step writes with. */
export interface ApplyDependencies {
  readonly kube: Pick<KubeClient, "get" | "patch">;
  readonly events: EventRecorder;
  readonly metrics: NodeMetrics;
  readonly cache: NodeCache;
  readonly droppedLabels: DroppedLabels;
  readonly clock: Clock;
}

/** The Node keeps its taint and is tried again: after `retryAfterMs`, or with the queue's back-off. */
class NodeNotInitializedError extends Error {
  readonly code = "NODE_NOT_INITIALIZED";
  readonly why: Why;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, why: Why, retryAfterMs?: number, options?: ErrorOptions) {
    super(message, options);
    this.name = "NodeNotInitializedError";
    this.why = why;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Conflicts in a row before the queue's back-off takes over. Upstream tries 20 times against a cache that cannot have changed. */
const MAX_TRIES = 5;

/** Carries the plan out, then comes back at the next tick, or when there is something to say. At most two writes a Node. */
export async function apply(plan: Plan, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { cache } = deps;
  // What was reported of a Node of that name before it was made anew.
  if (plan.kind !== "update") cache.differences.forget(context.key);
  switch (plan.kind) {
    case "leave":
      return leave(plan, deps, context);
    case "notInitialized":
      return refuse(plan, deps, context);
    case "update":
      cache.waiting.forget(context.key);
      return update(plan, deps, context);
    case "initialize":
      await initializeOrNote(plan, deps, context);
      cache.waiting.forget(context.key);
      return requeueAfter(cache.refreshes.untilNextMs());
    default:
      return plan satisfies never;
  }
}

function leave({ node, message }: Leave, { cache, events }: ApplyDependencies, { key, log }: ReconcileContext): Result {
  log.debug(2, "Node is left alone: no provider owns it", { why: message });
  const { refreshes, waiting } = cache;
  const { tell, newsInMs } = waiting.add(key, {
    reason: "unowned",
    topic: "unowned",
    newsAfterMs: UNOWNED_IS_NEWS_AFTER_MS,
  });
  if (tell) {
    const minutes = UNOWNED_IS_NEWS_AFTER_MS / 60_000;
    events.record(initializeNodeFailed(node, `no provider has owned it for ${minutes} min: ${message}`, "unowned"));
  }
  const tickInMs = refreshes.untilNextMs();
  const why = { reason: "unowned", message };
  return requeueAfter(newsInMs === 0 ? tickInMs : Math.min(newsInMs, tickInMs), why);
}

function refuse(plan: NotInitialized, { events, cache }: ApplyDependencies, { key }: ReconcileContext): never {
  const { node, reason, message, cause, tell } = plan;
  const noted = cache.waiting.add(key, {
    reason,
    topic: tell ? message : reason,
    newsAfterMs: tell ? 0 : DELAY_IS_NEWS_AFTER_MS,
  });
  const event = tell ? initializeNodeFailed : initializeNodeDelayed;
  if (noted.tell) events.record(event(node, message, reason, cause?.class));
  const retryAfterMs = cause === undefined ? undefined : retryDelayMs(cause, noted.failures);
  const what = `initialize node ${node.metadata.name}: ${message}`;
  const why = { reason: reason === "absent" && !tell ? "notSeenYet" : reason, message };
  throw new NodeNotInitializedError(what, why, retryAfterMs, { cause });
}

async function update(plan: Update, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { node, labelsPatch, statusPatch } = plan;
  const { refreshes, repairs } = deps.cache;
  const { key } = context;
  tell(plan, deps, context);
  const tickInMs = refreshes.untilNextMs();
  const waitMs = labelsPatch === undefined ? 0 : repairs.waitMs(key);
  try {
    // Labels first: their patch is only valid for the version that they were planned from.
    if (labelsPatch !== undefined && waitMs === 0) {
      await patch(node, labelsPatch, deps, context, { isFirstOfMore: statusPatch !== undefined });
      repairs.done(key);
    }
    if (statusPatch !== undefined) await patch(node, statusPatch, deps, context, { subresource: "status" });
  } catch (error) {
    if (!isApiError(error, "notFound")) throw error;
  }
  return requeueAfter(waitMs === 0 ? tickInMs : Math.min(waitMs, tickInMs), whyDiffers(plan));
}

function whyDiffers({ differences }: Update): Why | undefined {
  if (differences.length === 0) return undefined;
  return { reason: "differs", message: differences.map(({ message }) => message).join("; ") };
}

function tell(plan: Update, { cache, events, droppedLabels }: ApplyDependencies, { key, log }: ReconcileContext): void {
  for (const difference of cache.differences.replace(key, plan.differences)) {
    events.record(differs(plan.node, difference));
    log.warn("Node differs from what its cloud says", { ...difference });
  }
  for (const label of droppedLabels.news(plan.droppedLabels)) {
    log.warn("Label from the cloud is put on no node", { ...label });
  }
}

/** A write that the server refuses again and again also keeps the taint on. */
async function initializeOrNote(plan: Initialize, deps: ApplyDependencies, context: ReconcileContext): Promise<void> {
  try {
    await initialize(plan, deps, context);
  } catch (error) {
    if (isApiError(error, "notFound")) return;
    const noted = deps.cache.waiting.add(context.key, {
      reason: "write",
      topic: "write",
      newsAfterMs: DELAY_IS_NEWS_AFTER_MS,
    });
    if (noted.tell) deps.events.record(initializeNodeDelayed(plan.node, messageOf(error), "write"));
    throw error;
  }
}

async function initialize(plan: Initialize, deps: ApplyDependencies, context: ReconcileContext): Promise<void> {
  for (const warning of plan.instance.warnings) {
    context.log.warn("Provider's answer was not taken in full", { warning });
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

/** Addresses go first, so that no pod is let onto a Node without them. Answers the plan for the Node as the server now has it. */
async function writeAddresses(
  plan: Initialize,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Promise<Initialize | undefined> {
  if (plan.statusPatch === undefined) return plan;
  const options = { subresource: "status", isFirstOfMore: true };
  return planAgain(plan, await patch(plan.node, plan.statusPatch, deps, context, options));
}

/** The same facts for a newer state of the Node. undefined: it is another Node by now, or waits no longer. */
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
  log.info("Node initialized", { node: node.metadata.name, providerID: node.spec.providerID, delaySeconds });
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
