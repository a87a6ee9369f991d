import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import {
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
  requeueAfter,
  stepReconciler,
} from "../../runtime/reconciler.ts";
import type { Clock } from "../../util/clock.ts";
import { assign, type AssignDependencies } from "./assign.ts";
import { cidrNotAvailable } from "./events.ts";
import { type Input, type Plan, plan } from "./plan.ts";
import type { CidrAllocations } from "./cidr-allocations.ts";
import { REPORT_EVERY_MS, type WaitingNodes } from "./waiting-nodes.ts";

export interface RangeAllocatorDependencies extends Omit<AssignDependencies, "wrote"> {
  readonly nodes: Lister<Node>;
  readonly allocations: CidrAllocations;
  readonly waiting: WaitingNodes;
  readonly clock: Clock;
}

/** Gives a Node one block of each of the cluster's ranges. */
export function rangeAllocator(deps: RangeAllocatorDependencies): Reconciler {
  return stepReconciler(
    {
      gather: async ({ key }) => gather(key, deps),
      plan,
      apply: (decided, context) => apply(decided, deps, context),
    },
    deps.clock,
  );
}

/** undefined: the Node is gone, and the allocations has been told so. */
function gather(key: string, { nodes, allocations, waiting }: RangeAllocatorDependencies): Input | undefined {
  const node = nodes.get(key);
  if (node === undefined) {
    waiting.delete(key);
    return undefined;
  }
  return { node, held: allocations.of(node) };
}

async function apply(decided: Plan, deps: RangeAllocatorDependencies, context: ReconcileContext): Promise<Result> {
  const { nodes, allocations, waiting } = deps;
  const assigning = { ...deps, wrote: (before: Node, now: Node) => allocations.confirm(before, now) };
  switch (decided.kind) {
    case "leave":
      waiting.delete(context.key);
      return DONE;
    case "assign":
      return assign(decided.node, decided.ranges, assigning, context);
    case "allocate": {
      const { node } = decided;
      // Nobody would tell the allocations of its end any more.
      if (nodes.get(context.key)?.metadata.uid !== node.metadata.uid) return DONE;
      const reservation = allocations.reserve(node);
      if (reservation.kind === "full") return wait(node, reservation.clusterCidr, deps, context);
      waiting.delete(context.key);
      return assign(node, reservation.ranges, assigning, context);
    }
    default:
      return decided satisfies never;
  }
}

/** No back-off: whatever comes free wakes the Node, and it is looked at again only to say that it still waits. */
function wait(
  node: Node,
  clusterCidr: string,
  { waiting, events, clock }: RangeAllocatorDependencies,
  { key, log }: ReconcileContext,
): Result {
  if (waiting.add(key, clock.monotonicMs())) {
    events.record(cidrNotAvailable(node));
    log.warn("No pod CIDR is free for Node", {
      clusterCidr,
    });
  }
  return requeueAfter(REPORT_EVERY_MS);
}
