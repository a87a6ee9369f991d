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

/** Gives a Node one block of each cluster CIDR. */
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

function gather(key: string, { nodes, allocations, waiting }: RangeAllocatorDependencies): Input | undefined {
  const node = nodes.get(key);
  if (node !== undefined) return { node, allocation: allocations.of(node) };
  waiting.delete(key);
  return undefined;
}

async function apply(decided: Plan, deps: RangeAllocatorDependencies, context: ReconcileContext): Promise<Result> {
  const { nodes, allocations, waiting, events, clock } = deps;
  const { key, log } = context;
  const assigning = { ...deps, wrote: (before: Node, now: Node) => allocations.confirm(before, now) };
  switch (decided.kind) {
    case "leave":
      waiting.delete(key);
      return DONE;
    case "assign":
      return assign(decided.node, decided.cidrs, assigning, context);
    case "allocate": {
      const { node } = decided;
      // After its deletion event, nothing would release the reservation.
      if (nodes.get(key)?.metadata.uid !== node.metadata.uid) return DONE;
      const reservation = allocations.reserve(node);
      if (reservation.kind === "reserved") {
        waiting.delete(key);
        return assign(node, reservation.cidrs, assigning, context);
      }
      if (waiting.add(key, clock.monotonicMs())) {
        events.record(cidrNotAvailable(node));
        log.warn("No pod CIDR is free for Node", { clusterCidr: reservation.clusterCidr });
      }
      // A free block enqueues the Node; otherwise it is only reported again.
      return requeueAfter(REPORT_EVERY_MS);
    }
  }
  return decided satisfies never;
}
