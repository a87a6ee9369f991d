import type { Service } from "../../../api/service.ts";
import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import { driftNotRepaired, loadBalancerDrifted } from "../events.ts";
import type { Entry } from "../ledger.ts";
import type { Change, Look } from "../plan/types.ts";
import type { ApplyDependencies } from "./dependencies.ts";

/** What a look at the cloud, for which a sweep gave reason, has come to. */
export function noteLook(
  service: Service,
  { provider }: Entry,
  look: Look,
  { drift, events, metrics }: ApplyDependencies,
  { key, log }: ReconcileContext,
): void {
  if (look.kind === "steady") {
    drift.steady(key);
    return;
  }
  const { what, kind } = look.drift;
  const { verdict } = look;
  log.debug(2, "The load balancer is not as acknowledged and is left so for now", { what, verdict });
  metrics.drifts.inc({ provider, kind, action: verdict === "rest" ? "rest" : "left" });
  if (verdict === "rest" && drift.resting(key) === undefined) events.record(driftNotRepaired(service, what));
  drift.left(key, look.drift, verdict);
}

/** Before what somebody else did is undone. */
export function announceRepair({ service, drift }: Change, { events }: ApplyDependencies): void {
  if (drift !== undefined) events.record(loadBalancerDrifted(service, drift.what));
}

/** After the provider has taken the change: another wish puts an end to what was known of drifts. */
export function noteChange(
  { provider, purpose, drift: undone }: Change,
  { drift, metrics }: ApplyDependencies,
  key: string,
): void {
  if (undone !== undefined) {
    metrics.drifts.inc({ provider, kind: undone.kind, action: "repaired" });
    drift.repaired(key);
  } else if (purpose === "ensure") {
    drift.forget(key);
  }
}
