import { eventually } from "../../../support/eventually.ts";
import { at, type Kube } from "../../../support/kube.ts";

export const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

/** The one that controllers lead by, unless they are told another. */
export const LEASE_NAME = "cloud-controller-manager";
export const LEASE = `${LEASES}/${LEASE_NAME}`;

/** Waits until the holder of the Lease has renewed it so many times from now on. */
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
