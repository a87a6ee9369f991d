import type { Node } from "../../api/node.ts";
import type { JsonObject, KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { EventRecorder } from "../../kube/event-recorder.ts";
import { NODES } from "../../kube/node-resource.ts";
import type { OwnWrites } from "../../kube/own-writes.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import { type Result, requeueAfter } from "../../runtime/result.ts";
import type { Clock } from "../../util/clock.ts";
import { initializeNodeFailed, synced } from "./events.ts";
import type { NodeMetrics } from "./metrics.ts";
import { type Initialize, type Leave, type NotInitialized, type Plan, planInitialize, type Update } from "./plan.ts";
import { isUninitialized } from "./predicates.ts";
import type { Refusals } from "./refusals.ts";
import type { RefreshSchedule } from "./refresh-schedule.ts";
import { UNOWNED_IS_NEWS_AFTER_MS, type UnownedNodes } from "./unowned-nodes.ts";

/** What this step writes with. */
export interface ApplyDependencies {
  readonly kube: Pick<KubeClient, "get" | "patch">;
  readonly events: EventRecorder;
  readonly metrics: NodeMetrics;
  readonly refreshes: RefreshSchedule;
  readonly refusals: Refusals;
  readonly unowned: UnownedNodes;
  readonly ownWrites: OwnWrites<Node>;
  readonly clock: Clock;
}

/** The Node keeps its taint and is tried again: after `retryAfterMs`, or with the queue's back-off. */
class NodeNotInitializedError extends Error {
  readonly code = "NODE_NOT_INITIALIZED";
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number, options?: ErrorOptions) {
    super(message, options);
    this.name = "NodeNotInitializedError";
    this.retryAfterMs = retryAfterMs;
  }
}

/** Conflicts in a row before the queue's back-off takes over. Upstream tries 20 times against a cache that cannot have changed. */
const MAX_TRIES = 5;

/** Carries the plan out, then comes back at the next tick, or when there is something to say. At most two writes and one event a Node. */
export async function apply(plan: Plan, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  if (plan.kind !== "leave") deps.unowned.forget(context.key);
  switch (plan.kind) {
    case "nothing":
      break;
    case "leave":
      return leave(plan, deps, context);
    case "notInitialized":
      return refuse(plan, deps, context);
    case "update":
      await ignoreGone(update(plan, deps, context));
      break;
    case "initialize":
      await ignoreGone(initialize(plan, deps, context));
      break;
    default:
      return plan satisfies never;
  }
  deps.refusals.forget(context.key);
  return requeueAfter(deps.refreshes.untilNextMs());
}

function leave({ node, message }: Leave, deps: ApplyDependencies, { key, log }: ReconcileContext): Result {
  log.debug(2, "Node is left alone: no provider owns it", { why: message });
  deps.refusals.forget(key);
  const newsInMs = deps.unowned.add(key);
  if (newsInMs === 0) {
    const minutes = UNOWNED_IS_NEWS_AFTER_MS / 60_000;
    deps.events.record(initializeNodeFailed(node, `no provider has owned it for ${minutes} min: ${message}`));
  }
  const tickInMs = deps.refreshes.untilNextMs();
  return requeueAfter(newsInMs === undefined || newsInMs === 0 ? tickInMs : Math.min(newsInMs, tickInMs));
}

async function update(plan: Update, deps: ApplyDependencies, context: ReconcileContext): Promise<void> {
  const { node, statusPatch, labelsPatch, warning } = plan;
  if (warning !== undefined) context.log.warn("Addresses of the node stay as they are", { why: warning });
  try {
    if (statusPatch !== undefined) await patch(node, statusPatch, deps, context, "status");
    if (labelsPatch !== undefined) await patch(node, labelsPatch, deps, context);
  } catch (error) {
    // The tick is not over: what the cloud said is not on the Node yet.
    deps.refreshes.forget(context.key);
    throw error;
  }
}

function refuse(
  { node, message, cause, tell }: NotInitialized,
  { events, refusals }: ApplyDependencies,
  { key }: ReconcileContext,
): never {
  if (tell) events.record(initializeNodeFailed(node, message));
  const retryAfterMs = refusals.add(key, cause);
  throw new NodeNotInitializedError(`initialize node ${node.metadata.name}: ${message}`, retryAfterMs, { cause });
}

async function initialize(plan: Initialize, deps: ApplyDependencies, context: ReconcileContext): Promise<void> {
  logOddities(plan, context);
  let current: Initialize | undefined = plan;
  for (let tries = 1; ; tries++) {
    current = await writeAddresses(current, deps, context);
    if (current === undefined) return;
    try {
      const node = await patch(current.node, current.nodePatch, deps, context);
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
  return planAgain(plan, await patch(plan.node, plan.statusPatch, deps, context, "status"));
}

/** The same facts for a newer state of the Node. undefined: it is another Node by now, or waits no longer. */
function planAgain(plan: Initialize, node: Node): Initialize | undefined {
  if (node.metadata.uid !== plan.node.metadata.uid || !isUninitialized(node)) return undefined;
  const again = planInitialize(node, plan.instance);
  if (again.kind === "initialize") return again;
  throw new NodeNotInitializedError(`initialize node ${node.metadata.name}: ${again.message}`);
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
  { kube, ownWrites }: ApplyDependencies,
  { signal }: ReconcileContext,
  subresource?: string,
): Promise<Node> {
  const options = { signal, ...(subresource === undefined ? {} : { subresource }) };
  const written = await kube.patch(NODES, { name: node.metadata.name }, { kind: "strategic", body }, options);
  ownWrites.note(node, written);
  return written;
}

/** A Node that went away meanwhile needs nothing more. */
async function ignoreGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isApiError(error, "notFound")) throw error;
  }
}

function logOddities({ instance, droppedLabels }: Initialize, { log }: ReconcileContext): void {
  for (const warning of instance.warnings) log.warn("Provider's answer was not taken in full", { warning });
  for (const label of droppedLabels) log.warn("Label from the cloud is not put on the node", { ...label });
}
