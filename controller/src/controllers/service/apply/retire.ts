import { hasReason } from "../../../provider/model/errors.ts";
import { type ReconcileContext, type Result, requeueAfter } from "../../../runtime/reconciler.ts";
import { describe, isQuiet, LoadBalancerSyncError } from "../errors.ts";
import { formerLoadBalancerDeleted, formerLoadBalancerNotDeleted } from "../events.ts";
import { failureText } from "../failure-readiness.ts";
import { loadBalancerRef } from "../gather/load-balancer-ref.ts";
import type { Retire } from "../plan/types.ts";
import { type ApplyDependencies, providerNamed } from "./dependencies.ts";
import { unprotect } from "./delete.ts";
import { isOvertaken, refuseOvertakenRetire } from "./overtaken.ts";
import { again } from "./status.ts";

/** Takes down what a provider made that serves the Service no more. What serves it is not touched, and its condition neither. */
export async function applyRetire(
  { service, previous }: Retire,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Promise<Result> {
  const { events, records, gate } = deps;
  const { loadBalancerID } = previous;
  const provider = providerNamed(deps, previous.provider);
  const ref = loadBalancerRef(service, provider.info, loadBalancerID, undefined);
  const refuse = (): void => refuseOvertakenRetire(service, deps);
  const options = { signal: context.signal, trigger: "served by another provider", refuse };
  const call = () =>
    gate.run(provider, context, undefined, () => {
      refuse();
      return provider.client.deleteLoadBalancer(ref, options);
    });
  try {
    const { done, operation } = await call().catch(async (error: unknown) => {
      if (!hasReason(error, "DELETION_PROTECTED") || previous.unprotected === undefined) throw error;
      await unprotect(
        { service, provider: previous.provider },
        previous.unprotected,
        refuseOvertakenRetire,
        deps,
        context,
      );
      return call();
    });
    if (!done) return again(operation?.pollAfterMs, deps);
  } catch (error) {
    if (isOvertaken(error)) throw error;
    if (!isQuiet(error, context)) {
      events.record(formerLoadBalancerNotDeleted(service, previous.provider, failureText(error)));
    }
    const message = `failed to delete what provider ${previous.provider} had of the Service: ${describe(error)}`;
    throw new LoadBalancerSyncError(message, { cause: error, isTold: true, isAside: true });
  }
  // Where only nobody could tell, there was nothing to speak of.
  if (loadBalancerID !== undefined)
    events.record(formerLoadBalancerDeleted(service, previous.provider, loadBalancerID));
  records.commit(context.key, { kind: "previousCleared", provider: previous.provider });
  return requeueAfter(0);
}
