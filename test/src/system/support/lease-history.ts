import type { ControlPlane } from "@cloudwire/control-plane";
import { at } from "../../support/kube.ts";

/** One write of the Lease that took effect, with the times that the writer put into it. */
export interface LeaseWrite {
  readonly user: string;
  /** "" where the writer released it. */
  readonly holder: string;
  readonly renewedAtMs: number;
}

/** Who came after whom. */
export interface Handover {
  readonly from: string;
  readonly to: string;
  /** The one before gave the lease up. */
  readonly isReleased: boolean;
  /** From the last write of the one to the first of the other, by their own clocks. */
  readonly gapMs: number;
}

/** Every write of a Lease since then, in order, from the audit log of a control plane that records request bodies. */
export async function leaseWrites(
  controlPlane: ControlPlane,
  name: string,
  sinceMs: number,
): Promise<readonly LeaseWrite[]> {
  const events = await controlPlane.auditEvents();
  return events
    .filter(({ receivedAt }) => Date.parse(receivedAt) >= sinceMs)
    .filter(({ resource, verb, stage, code = 0, requestObject }) => {
      const isWrite = resource === "leases" && (verb === "create" || verb === "update") && stage === "ResponseComplete";
      return isWrite && code < 300 && at(requestObject, "metadata", "name") === name;
    })
    .map(({ user, requestObject }) => ({
      user,
      holder: textOf(at(requestObject, "spec", "holderIdentity")),
      renewedAtMs: Date.parse(textOf(at(requestObject, "spec", "renewTime"))),
    }));
}

/** The changes of hands in the history of a Lease. */
export function handovers(writes: readonly LeaseWrite[]): readonly Handover[] {
  return writes.flatMap((write, index) => {
    const before = writes[index - 1];
    if (before === undefined || write.holder === "" || write.holder === before.holder) return [];
    const gapMs = write.renewedAtMs - before.renewedAtMs;
    return [{ from: before.user, to: write.user, isReleased: before.holder === "", gapMs }];
  });
}

/** "" where there is none. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
