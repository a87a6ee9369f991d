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
import { type CloudInput, type CloudPlan, needsCidrs, planCloud } from "./plan.ts";

export interface CloudAllocatorDependencies extends Omit<AssignDependencies, "wrote"> {
  readonly nodes: Lister<Node>;
  readonly instances: InstanceReader;
  readonly ownWrites: OwnWrites<Node>;
  readonly writers: Semaphore;
  readonly clock: Clock;
}

class PodCidrUnavailableError extends Error {
  readonly code = "POD_CIDR_UNAVAILABLE";
  override readonly name = "PodCidrUnavailableError";
}

/** Nodes that join together share one lookup. An unsuccessful lookup is not repeated for this long. */
const MAX_DATA_AGE_MS = 1000;

/** Writes the CIDRs that the cloud has allocated for an instance to its Node. */
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
  if (!needsCidrs(node)) return { node, result: undefined };
  return { node, result: await instances.get(node, { signal, maxDataAgeMs: MAX_DATA_AGE_MS }) };
}

async function apply(decided: CloudPlan, deps: CloudAllocatorDependencies, context: ReconcileContext): Promise<Result> {
  const { log } = context;
  switch (decided.kind) {
    case "leave":
      log.debug(4, "Node gets no pod CIDRs", { detail: decided.message });
      return DONE;
    case "assign": {
      const { node, cidrs, unused } = decided;
      const { writers, ownWrites } = deps;
      if (unused.length > 0) {
        log.warn("The cloud reported more pod CIDRs than a Node can have; using the first of each IP family", {
          unused,
        });
      }
      const wrote = (before: Node, now: Node): void => ownWrites.note(before, now);
      return writers.run(context, () => assign(node, cidrs, { ...deps, wrote }, context));
    }
    case "unavailable":
      deps.events.record(cloudCidrNotAvailable(decided.node, decided.message));
      throw new PodCidrUnavailableError(`pod CIDRs of node ${context.key}: ${decided.message}`);
    case "retry":
      throw failureOf(`pod CIDRs of node ${context.key}: ${decided.message}`, decided.error);
  }
  return decided satisfies never;
}

/** Errors that only an operator or a change fixes have a fixed wait (proto/README.md section 5); others use the queue's back-off. */
function failureOf(message: string, error: ProviderError | undefined): Error {
  const isFixed = error?.class === "OPERATOR" || error?.class === "FINAL" || error?.isClientThrottled === true;
  const waitMs = isFixed ? retryDelayMs(error, 1) : undefined;
  if (waitMs !== undefined) return new RetryAfterError(message, waitMs, { cause: error });
  return new PodCidrUnavailableError(message, error === undefined ? {} : { cause: error });
}
