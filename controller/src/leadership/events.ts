import {
  type EventInput,
  LEADER_ELECTION,
  LEADER_PROVIDER_UNAVAILABLE,
  LEADERSHIP_HANDOVER,
  PROVIDER_SCOPE_CHANGED,
} from "../api/event.ts";
import type { ObjectReference } from "../api/meta.ts";

/** client-go's messages. */
export function leaderElection(lease: ObjectReference, identity: string, what: string): EventInput {
  return { regarding: lease, type: "Normal", reason: LEADER_ELECTION, message: `${identity} ${what}` };
}

export function leaderLacksProvider(lease: ObjectReference, identity: string, why: string): EventInput {
  return { regarding: lease, type: "Warning", reason: LEADER_PROVIDER_UNAVAILABLE, message: `${identity} ${why}` };
}

export function leadershipHandedOver(lease: ObjectReference, identity: string, why: string): EventInput {
  return { regarding: lease, type: "Warning", reason: LEADERSHIP_HANDOVER, message: `${identity} ${why}` };
}

export function providerScopeChanged(lease: ObjectReference, provider: string, why: string): EventInput {
  return { regarding: lease, type: "Warning", reason: PROVIDER_SCOPE_CHANGED, message: `Provider ${provider}: ${why}` };
}
