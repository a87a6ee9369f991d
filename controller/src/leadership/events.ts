import { type EventInput, LEADER_ELECTION, PROVIDER_SCOPE_CHANGED } from "../api/event.ts";
import type { ObjectReference } from "../api/meta.ts";

/** A replica leads from now on, or does not any more. */
export function leaderElection(lease: ObjectReference, identity: string, what: string): EventInput {
  return { regarding: lease, type: "Normal", reason: LEADER_ELECTION, message: `${identity} ${what}` };
}

/** The leader makes way for another replica, or would and cannot. */
export function handover(lease: ObjectReference, identity: string, reason: string, why: string): EventInput {
  return { regarding: lease, type: "Warning", reason, message: `${identity} ${why}` };
}

/** Where it is put right: on the Lease. */
export function providerScopeChanged(lease: ObjectReference, message: string): EventInput {
  return { regarding: lease, type: "Warning", reason: PROVIDER_SCOPE_CHANGED, message };
}
