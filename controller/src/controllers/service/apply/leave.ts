import { DONE, type ReconcileContext, type Result } from "../../../runtime/reconciler.ts";
import { loadBalancerNotServed } from "../events.ts";
import { notServed, toldReadiness } from "../plan/status.ts";
import type { Leave } from "../plan/types.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { tell } from "./status.ts";

/** Says why nothing is done, with an event when that is new. A provider that serves it again makes the Service be looked at. */
export async function applyLeave(
  { service, why }: Leave,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Promise<Result> {
  const readiness = notServed(why);
  context.log.warn("The load balancer is left as it is: no provider serves it any more", { why });
  const isNew = toldReadiness(deps.ownWrites.newest(service))?.reason !== readiness.reason;
  await tell(service, readiness, deps, context);
  if (isNew) deps.events.record(loadBalancerNotServed(service, why));
  return DONE;
}
