import * as reasons from "../api/event.ts";
import type { ObjectReference } from "../api/meta.ts";

const leaseEvent =
  (type: reasons.EventInput["type"], reason: string) =>
  (regarding: ObjectReference, subject: string, text: string): reasons.EventInput => ({
    regarding,
    type,
    reason,
    message: `${subject} ${text}`,
  });

/** With client-go's messages. */
export const leaderElection = leaseEvent("Normal", reasons.LEADER_ELECTION);
export const leaderLacksProvider = leaseEvent("Warning", reasons.LEADER_PROVIDER_UNAVAILABLE);
export const leadershipHandedOver = leaseEvent("Warning", reasons.LEADERSHIP_HANDOVER);

export function providerScopeChanged(lease: ObjectReference, provider: string, message: string): reasons.EventInput {
  return leaseEvent("Warning", reasons.PROVIDER_SCOPE_CHANGED)(lease, `Provider ${provider}:`, message);
}
