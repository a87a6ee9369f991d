import type { Taint } from "./node.ts";

/** Put on by kubelets started with --cloud-provider=external; lifted once the cloud's facts are on the Node. cloud-provider/api/well_known_taints.go v0.36.3. */
export const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";

/** The autoscaler is about to remove the node. cloud-provider/controllers/service/controller.go v0.36.3. */
export const TO_BE_DELETED_BY_CLUSTER_AUTOSCALER = "ToBeDeletedByClusterAutoscaler";

/** On a Node whose machine is stopped. cloud-provider/api/well_known_taints.go v0.36.3. */
export const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";

/** As the server takes it: `spec.taints` has no merge key and is always written whole. */
export function taintJson({ key, value, effect, timeAddedMs }: Taint): Readonly<Record<string, string>> {
  return {
    key,
    ...(value === "" ? {} : { value }),
    effect,
    ...(timeAddedMs === undefined ? {} : { timeAdded: new Date(timeAddedMs).toISOString().replace(/\.\d{3}Z$/, "Z") }),
  };
}
