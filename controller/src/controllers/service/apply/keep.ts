import { type ReconcileContext, type Result, requeueAfter } from "../../../runtime/reconciler.ts";
import { loadBalancerKept, loadBalancerProtected } from "../events.ts";
import { PROTECTED, toldReadiness } from "../plan/status.ts";
import type { Keep } from "../plan/types.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { addFinalizer, tell } from "./status.ts";

/** Lets nothing go, and says what would. Called after `meanwhile` was carried out, whose result counts. */
export async function applyKeep(
  { service, isGone, loadBalancerId, finalizerPatch }: Keep,
  result: Result,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Promise<Result> {
  const { events, records, ownWrites } = deps;
  if (isGone) {
    events.record(loadBalancerKept(service, loadBalancerId));
    context.log.info("The load balancer of a Service that is gone is kept, for it is protected", { loadBalancerId });
    records.commit(context.key, { kind: "retained" });
    // Another Service may stand under the name by now.
    return requeueAfter(0);
  }
  if (toldReadiness(ownWrites.newest(service))?.reason !== PROTECTED.reason)
    events.record(loadBalancerProtected(service));
  await addFinalizer(service, finalizerPatch, PROTECTED, deps, context);
  await tell(service, PROTECTED, deps, context);
  return result;
}
