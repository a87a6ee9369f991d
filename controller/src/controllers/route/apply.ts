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
  type RangeFailure,
  RouteSyncError,
  failureKind,
  failureOf,
  failureText,
  isNews,
  waitsForRoom,
} from "./failure.ts";
import { type Network, type Plan, type RangePlan, type StaleRoute, networkAfter, networkPatch } from "./plan.ts";
import type { RouteWriter, WriteTarget } from "./route-writer.ts";
import type { RouteTables } from "./route-table.ts";
import type { WaitingNodes } from "./quota-watch.ts";

/** What this step changes things with. */
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

/** How one range ended. */
type Ending =
  | { readonly kind: "routed" }
  | { readonly kind: "pending"; readonly pollAfterMs: number }
  | { readonly kind: "unrouted"; readonly failure: RangeFailure };

/** Carries the plan out: what is in the way goes first, range by range; then the Node says how its network is. */
export async function apply(decided: Plan, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { node, stale, ranges } = decided;
  const { removals } = deps.waiting;
  const [removed, endings] = await Promise.all([
    Promise.all(stale.map((route) => remove(route, deps, context))),
    Promise.all(node === undefined ? [] : ranges.map((range) => end(range, decided, node, deps, context))),
  ]);
  context.signal.throwIfAborted();
  if (node === undefined) {
    deps.failureCounts.succeeded(context.key);
    deps.waiting.delete(context.key);
  } else {
    const states = endings.map(({ kind }) => kind);
    await say(node, networkAfter(decided, states), deps, context);
    settle(node, endings, removals, deps);
  }
  return afterRemovals(context.key, removed, endings);
}

async function remove({ provider, known }: StaleRoute, deps: ApplyDependencies, context: ReconcileContext) {
  return deps.writer.delete(targetOf(provider, deps, context), known);
}

async function end(
  range: RangePlan,
  { provider }: Plan,
  node: Node,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Promise<Ending> {
  switch (range.kind) {
    case "kept":
      return { kind: "routed" };
    case "refused":
      return { kind: "unrouted", failure: { ...range, error: undefined, isTargetGone: false } };
    case "make": {
      const target = targetOf(provider, deps, context);
      const cleared = await Promise.all(range.first.map((known) => deps.writer.delete(target, known)));
      const obstacle = cleared.find(({ kind }) => kind !== "done");
      return endingOf(obstacle ?? (await deps.writer.create(target, range.route)), range, node, deps, context);
    }
    default:
      return range satisfies never;
  }
}

async function endingOf(
  outcome: RouteOutcome,
  { cidr, route }: Extract<RangePlan, { kind: "make" }>,
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
      const isTargetGone = await isMachineGone(error, node, deps, context);
      return {
        kind: "unrouted",
        failure: { cidr, nameHint: route.nameHint, refusal: undefined, message: error.message, error, isTargetGone },
      };
    }
    default:
      return outcome satisfies never;
  }
}

/** "No such target" is believed only when a look at the machine itself says so too. */
async function isMachineGone(
  error: ProviderError,
  node: Node,
  { instances }: ApplyDependencies,
  { signal }: ReconcileContext,
): Promise<boolean> {
  if (!hasReason(error, "ROUTE_TARGET_NOT_FOUND")) return false;
  const answer = await instances.get(node, { signal, maxDataAgeMs: 0 });
  return answer.kind === "absent";
}

/** A Node that went away meanwhile, or is another one of that name, is not told. */
async function say(node: Node, network: Network, deps: ApplyDependencies, context: ReconcileContext): Promise<void> {
  const { kube, ownWrites, clock } = deps;
  const body = networkPatch(node, network, clock.nowMs());
  if (body === undefined) return;
  const options = { signal: context.signal, subresource: "status" };
  try {
    ownWrites.note(node, await kube.patch(NODES, { name: node.metadata.name }, { kind: "strategic", body }, options));
  } catch (error) {
    if (!isApiError(error, "notFound") && !isApiError(error, "conflict")) throw error;
  }
}

/** Says what failed and throws it. */
function settle(
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
    if (!isNews(failure, inARow)) continue;
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
  if (routing === undefined) throw new RouteSyncError(`provider ${name} makes no routes any more`);
  return { ...routing, signal };
}
