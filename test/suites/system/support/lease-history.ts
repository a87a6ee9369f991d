import type { ControlPlane } from "@cloudwire/control-plane";
import { at } from "../../../support/kube.ts";
import { LEASE_NAME } from "./lease.ts";

/** One write of the Lease that took effect, with the times that the writer put into it. */
interface LeaseWrite {
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
  /** The first write of the other, by its clock. */
  readonly takenAtMs: number;
}

/** How the controllers' Lease changed hands since then, from the audit log of a control plane that records request bodies. */
export async function handovers(controlPlane: ControlPlane, sinceMs: number): Promise<readonly Handover[]> {
  const writes = await leaseWrites(controlPlane, sinceMs);
  return writes.flatMap((write, index) => {
    const before = writes[index - 1];
    if (before === undefined || write.holder === "" || write.holder === before.holder) return [];
    const takenAtMs = write.renewedAtMs;
    const gapMs = takenAtMs - before.renewedAtMs;
    return [{ from: before.user, to: write.user, isReleased: before.holder === "", gapMs, takenAtMs }];
  });
}

async function leaseWrites(controlPlane: ControlPlane, sinceMs: number): Promise<readonly LeaseWrite[]> {
  const events = await controlPlane.auditEvents();
  return events
    .filter(({ receivedAt }) => Date.parse(receivedAt) >= sinceMs)
    .filter(({ resource, verb, stage, code = 0, requestObject }) => {
      const isWrite = resource === "leases" && (verb === "create" || verb === "update") && stage === "ResponseComplete";
      return isWrite && code < 300 && at(requestObject, "metadata", "name") === LEASE_NAME;
    })
    .map(({ user, requestObject }) => ({
      user,
      holder: textOf(at(requestObject, "spec", "holderIdentity")),
      renewedAtMs: Date.parse(textOf(at(requestObject, "spec", "renewTime"))),
    }));
}

/** "" where there is none. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
