import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { OwnWrites } from "../../kube/cache/store.ts";
import { type ProviderError, retryDelayMs } from "../../provider/model/errors.ts";
import type { InstanceReader } from "../../provider/lookup/instance-reader.ts";
import { DONE, type ReconcileContext, type Reconciler, type Result, stepReconciler } from "../../runtime/reconciler.ts";
import type { Clock } from "../../util/clock.ts";
import { RetryAfterError } from "../../util/errors.ts";
import type { Semaphore } from "../../util/semaphore.ts";
import { assign, type AssignDependencies } from "./assign.ts";
import { cloudCidrNotAvailable } from "./events.ts";
import { type CloudInput, type CloudPlan, needsRanges, planCloud } from "./plan.ts";

export interface CloudAllocatorDependencies extends Omit<AssignDependencies, "wrote"> {
  readonly nodes: Lister<Node>;
  readonly instances: InstanceReader;
  readonly ownWrites: OwnWrites<Node>;
  readonly writers: Semaphore;
  readonly clock: Clock;
}

/** A Node has no pod range because its cloud has not said one. */
class PodCidrUnavailableError extends Error {
  readonly code = "POD_CIDR_UNAVAILABLE";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "PodCidrUnavailableError";
  }
}

/** Nodes that join together share one look at the cloud; a look that found nothing is not repeated for this long. */
const MAX_DATA_AGE_MS = 1000;

/** Writes the ranges that the cloud has allocated for a machine on its Node. */
export function cloudAllocator(deps: CloudAllocatorDependencies): Reconciler {
  return stepReconciler(
    {
      gather: (context) => gather(deps, context),
      plan: planCloud,
      apply: (decided, context) => apply(decided, deps, context),
    },
    deps.clock,
  );
}

/** undefined: the Node is gone. */
async function gather(
  { nodes, instances, ownWrites }: CloudAllocatorDependencies,
  { key, signal }: ReconcileContext,
): Promise<CloudInput | undefined> {
  const cached = nodes.get(key);
  if (cached === undefined) {
    ownWrites.forget(key);
    return undefined;
  }
  const node = ownWrites.latest(cached);
  if (!needsRanges(node)) return { node, answer: undefined };
  return { node, answer: await instances.get(node, { signal, maxDataAgeMs: MAX_DATA_AGE_MS }) };
}

async function apply(decided: CloudPlan, deps: CloudAllocatorDependencies, context: ReconcileContext): Promise<Result> {
  const { log } = context;
  switch (decided.kind) {
    case "leave":
      log.debug(4, "Node gets no pod CIDRs", { detail: decided.why });
      return DONE;
    case "assign":
      if (decided.left.length > 0) {
        log.warn("The cloud reported more pod CIDRs than a Node can have; using the first of each IP family", {
          unused: decided.left,
        });
      }
      return write(decided.node, decided.ranges, deps, context);
    case "unavailable":
      deps.events.record(cloudCidrNotAvailable(decided.node, decided.why));
      throw new PodCidrUnavailableError(`pod ranges of node ${context.key}: ${decided.why}`);
    case "retry":
      throw failureOf(`pod ranges of node ${context.key}: ${decided.why}`, decided.error);
    default:
      return decided satisfies never;
  }
}

async function write(
  node: Node,
  ranges: readonly string[],
  deps: CloudAllocatorDependencies,
  context: ReconcileContext,
): Promise<Result> {
  const { writers, ownWrites } = deps;
  const wrote = (before: Node, now: Node): void => ownWrites.note(before, now);
  return writers.run(context, () => assign(node, ranges, { ...deps, wrote }, context));
}

/** What only waiting or an operator cures has its own wait (proto/README.md section 5); the rest the queue's back-off. */
function failureOf(message: string, error: ProviderError | undefined): Error {
  if (error === undefined) return new PodCidrUnavailableError(message);
  const isFixed = error.class === "WAIT" || error.class === "OPERATOR" || error.class === "FINAL";
  const waitMs = isFixed ? retryDelayMs(error, 1) : undefined;
  if (waitMs !== undefined) return new RetryAfterError(message, waitMs, { cause: error });
  return new PodCidrUnavailableError(message, { cause: error });
}
