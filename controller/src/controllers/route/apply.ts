import type { Node } from "../../api/node.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import { NODES } from "../../kube/resources/node.ts";
import type { OwnWrites } from "../../kube/cache/store.ts";
import { hasReason, type ProviderError } from "../../provider/model/errors.ts";
import type { InstanceReader } from "../../provider/lookup/instance-reader.ts";
import type { RouteOutcome } from "../../provider/model/route.ts";
import type { FailureCounts } from "../../runtime/history.ts";
import { DONE, type ReconcileContext, type Result, requeueAfter } from "../../runtime/reconciler.ts";
import type { Clock } from "../../util/clock.ts";
import { failedToCreateRoute } from "./events.ts";
import {
  type CidrFailure,
  RouteSyncError,
  failureKind,
  failureOf,
  failureText,
  isReported,
  waitsForRoom,
} from "./failure.ts";
import { type CidrPlan, type Network, type Plan, networkAfter, networkPatch } from "./plan.ts";
import type { RouteWriter, WriteTarget } from "./route-writer.ts";
import type { RouteTables } from "./route-table.ts";
import type { WaitingNodes } from "./quota-watch.ts";

export interface ApplyDependencies {
  readonly kube: Pick<KubeClient, "patch">;
  readonly instances: InstanceReader;
  readonly tables: RouteTables;
  readonly writer: RouteWriter;
  readonly waiting: WaitingNodes;
  readonly failureCounts: FailureCounts;
  readonly events: EventRecorder;
  readonly ownWrites: OwnWrites<Node>;
  readonly clock: Clock;
}

type Ending =
  | { readonly kind: "routed" }
  | { readonly kind: "pending"; readonly pollAfterMs: number }
  | { readonly kind: "unrouted"; readonly failure: CidrFailure };

/** Changes the routes, then updates the Node's network condition. */
export async function apply(decided: Plan, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { node, stale, cidrs } = decided;
  const { removals } = deps.waiting;
  const [removed, endings] = await Promise.all([
    Promise.all(stale.map(({ provider, known }) => deps.writer.delete(targetOf(provider, deps, context), known))),
    Promise.all(node === undefined ? [] : cidrs.map((cidr) => applyCidr(cidr, decided, node, deps, context))),
  ]);
  context.signal.throwIfAborted();
  if (node === undefined) {
    deps.failureCounts.succeeded(context.key);
    deps.waiting.delete(context.key);
  } else {
    const states = endings.map(({ kind }) => kind);
    await updateCondition(node, networkAfter(decided, states), deps, context);
    reportFailures(node, endings, removals, deps);
  }
  return afterRemovals(context.key, removed, endings);
}

async function applyCidr(
  planned: CidrPlan,
  { provider }: Plan,
  node: Node,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Promise<Ending> {
  switch (planned.kind) {
    case "kept":
      return { kind: "routed" };
    case "rejected":
      return { kind: "unrouted", failure: { ...planned, error: undefined, isTargetGone: false } };
    case "create": {
      const target = targetOf(provider, deps, context);
      const cleared = await Promise.all(planned.first.map((known) => deps.writer.delete(target, known)));
      const blocking = cleared.find(({ kind }) => kind !== "done");
      return endingOf(blocking ?? (await deps.writer.create(target, planned.route)), planned, node, deps, context);
    }
  }
  return planned satisfies never;
}

async function endingOf(
  outcome: RouteOutcome,
  { cidr, route: { nameHint } }: Extract<CidrPlan, { kind: "create" }>,
  node: Node,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Promise<Ending> {
  switch (outcome.kind) {
    case "done":
      return { kind: "routed" };
    case "pending":
      return { kind: "pending", pollAfterMs: outcome.operation.pollAfterMs };
    case "failed": {
      const { error } = outcome;
      const isTargetGone = await isInstanceGone(error, node, deps, context);
      const { message } = error;
      return { kind: "unrouted", failure: { cidr, nameHint, rejection: undefined, message, error, isTargetGone } };
    }
  }
  return outcome satisfies never;
}

/** A missing target must be confirmed by a lookup of the instance. */
async function isInstanceGone(
  error: ProviderError,
  node: Node,
  { instances }: ApplyDependencies,
  { signal }: ReconcileContext,
): Promise<boolean> {
  if (!hasReason(error, "ROUTE_TARGET_NOT_FOUND")) return false;
  const result = await instances.get(node, { signal, maxDataAgeMs: 0 });
  return result.kind === "absent";
}

/** Ignores a Node that was deleted or recreated in the meantime. */
async function updateCondition(
  node: Node,
  network: Network,
  { kube, ownWrites, clock }: ApplyDependencies,
  { signal }: ReconcileContext,
): Promise<void> {
  const body = networkPatch(node, network, clock.nowMs());
  if (body === undefined) return;
  const options = { signal, subresource: "status" };
  try {
    ownWrites.note(node, await kube.patch(NODES, { name: node.metadata.name }, { kind: "strategic", body }, options));
  } catch (error) {
    if (!isApiError(error, "notFound") && !isApiError(error, "conflict")) throw error;
  }
}

function reportFailures(
  node: Node,
  endings: readonly Ending[],
  removals: number,
  { events, waiting, failureCounts }: ApplyDependencies,
): void {
  const { name } = node.metadata;
  const failures = endings.flatMap((ending) => (ending.kind === "unrouted" ? [ending.failure] : []));
  if (failures.some(waitsForRoom)) waiting.add(name, removals);
  else waiting.delete(name);
  if (failures.length === 0) return failureCounts.succeeded(name);
  const inARow = failureCounts.failed(name, failureKind(failures));
  for (const failure of failures) {
    if (!isReported(failure, inARow)) continue;
    events.record(failedToCreateRoute(node, failure.nameHint, failure.cidr, failureText(failure)));
  }
  throw failureOf(name, failures, inARow);
}

function afterRemovals(key: string, removed: readonly RouteOutcome[], endings: readonly Ending[]): Result {
  const failed = removed.find((outcome) => outcome.kind === "failed");
  if (failed !== undefined) {
    throw new RouteSyncError(`remove routes of node ${key}: ${failed.error.message}`, { cause: failed.error });
  }
  const polls = [
    ...removed.flatMap((outcome) => (outcome.kind === "pending" ? [outcome.operation.pollAfterMs] : [])),
    ...endings.flatMap((ending) => (ending.kind === "pending" ? [ending.pollAfterMs] : [])),
  ];
  return polls.length === 0 ? DONE : requeueAfter(Math.min(...polls));
}

function targetOf(name: string, { tables }: ApplyDependencies, { signal }: ReconcileContext): WriteTarget {
  const routing = tables.named(name);
  if (routing === undefined) throw new RouteSyncError(`provider ${name} no longer serves routes`);
  return { ...routing, signal };
}
