import type { Service } from "../../../api/service.ts";
import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import { driftNotRepaired, loadBalancerDrifted } from "../events.ts";
import type { Change } from "../plan/types.ts";
import type { Present } from "../record/record.ts";
import type { Look } from "../record/transition.ts";
import type { ApplyDependencies } from "./dependencies.ts";

/** What a read of the cloud, for which a sweep gave reason, has come to. */
export function noteLook(
  service: Service,
  { provider }: Present,
  look: Look,
  { records, pace, clock, events, metrics }: ApplyDependencies,
  { key, log }: ReconcileContext,
): void {
  if (look.kind === "left") {
    const { drift, verdict } = look;
    const { what, kind } = drift;
    log.debug(2, "The load balancer is not as acknowledged and is left so for now", { what, verdict });
    metrics.drifts.inc({ provider, kind, action: verdict === "rest" ? "rest" : "left" });
    const isNew = records.get(key)?.drift.suspended === undefined;
    if (verdict === "rest" && isNew) events.record(driftNotRepaired(service, what));
  }
  records.commit(key, { kind: "inspected", look, nowMs: clock.monotonicMs(), periodMs: pace.periodMs });
}

/** Before what somebody else did is undone. */
export function announceRepair({ service, drift }: Change, { events }: Pick<ApplyDependencies, "events">): void {
  if (drift !== undefined) events.record(loadBalancerDrifted(service, drift.what));
}

/** After the provider has taken the change: another wish puts an end to what was known of drifts. */
export function noteChange(
  { provider, purpose, drift }: Change,
  { records, clock, metrics }: Pick<ApplyDependencies, "records" | "clock" | "metrics">,
  key: string,
): void {
  if (drift !== undefined) {
    metrics.drifts.inc({ provider, kind: drift.kind, action: "repaired" });
    records.commit(key, { kind: "repaired", nowMs: clock.monotonicMs() });
  } else if (purpose === "ensure") {
    records.commit(key, { kind: "driftSuperseded" });
  }
}
