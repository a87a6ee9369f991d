import type { ControlPlane } from "@cloudwire/control-plane";
import { eventually } from "../../../support/eventually.ts";
import { type Kube, at } from "../../../support/kube.ts";

export const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

/** The Lease of the controllers by default. */
const LEASE_NAME = "cloud-controller-manager";
export const LEASE = `${LEASES}/${LEASE_NAME}`;

/** Waits until the Lease holder has renewed it so many times from now on. */
export async function renewals(kube: Kube, count: number): Promise<void> {
  const renewTime = async () => at(await kube.get(LEASE), "spec", "renewTime");
  let last = await renewTime();
  for (let left = count; left > 0; left--) {
    last = await eventually(`the lease to be renewed ${left} times more`, 20_000, async () => {
      const now = await renewTime();
      return now === last ? undefined : now;
    });
  }
}

/** One write of the Lease that took effect, with the times that the writer put into it. */
interface LeaseWrite {
  readonly user: string;
  /** "" where the writer released it. */
  readonly holderIdentity: string;
  readonly renewedAtMs: number;
}

/** A change of the leader. */
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
    if (before === undefined || write.holderIdentity === "" || write.holderIdentity === before.holderIdentity)
      return [];
    const takenAtMs = write.renewedAtMs;
    const gapMs = takenAtMs - before.renewedAtMs;
    return [{ from: before.user, to: write.user, isReleased: before.holderIdentity === "", gapMs, takenAtMs }];
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
      holderIdentity: textOf(at(requestObject, "spec", "holderIdentity")),
      renewedAtMs: Date.parse(textOf(at(requestObject, "spec", "renewTime"))),
    }));
}

/** "" where there is none. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
