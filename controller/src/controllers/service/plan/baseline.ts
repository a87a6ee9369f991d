import type { LoadBalancer } from "../../../provider/model/load-balancer.ts";
import { type Baseline, UNVERIFIED } from "../record/record.ts";
import type { Change } from "./types.ts";

/*
 * A baseline is never what a read returns: another client may have changed the cloud objects before. It comes only from a call that
 * compared them with the desired state.
 */

/** The provider has compared the cloud objects with the desired state, and both match. */
export function verified({ observedFingerprint }: Pick<LoadBalancer, "observedFingerprint">): Baseline {
  return { kind: "verified", fingerprint: observedFingerprint };
}

/** After the response to a change that is complete. */
export function baselineAfter(change: Pick<Change, "call" | "inForce" | "isRepeated">, after: LoadBalancer): Baseline {
  // The response to a repeated request may be the state as of its second arrival.
  if (change.isRepeated) return UNVERIFIED;
  return change.call === "ensure" ? verified(after) : afterNodes(change.inForce?.baseline ?? UNVERIFIED, after);
}

/** An update of the nodes compares only the targets: the rest is as verified before, if the cloud objects were so until the update. */
function afterNodes(before: Baseline, after: LoadBalancer): Baseline {
  if (before.kind === "unverified") return before;
  const { observedFingerprint, previousObservedFingerprint } = after;
  const isUnaffected = observedFingerprint === before.fingerprint;
  const isKnown = previousObservedFingerprint !== "" && previousObservedFingerprint === before.fingerprint;
  return isUnaffected || isKnown ? verified(after) : UNVERIFIED;
}

/** The provider reports that another client changed the cloud objects before the update of the nodes. */
export function isChangedBefore(before: Baseline | undefined, { previousObservedFingerprint }: LoadBalancer): boolean {
  if (before?.kind !== "verified") return false;
  return ![before.fingerprint, ""].includes(previousObservedFingerprint);
}
