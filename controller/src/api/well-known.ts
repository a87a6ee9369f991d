import type { Taint } from "./node.ts";

// k8s.io/api/core/v1/well_known_labels.go v0.36.3.
export const TOPOLOGY_ZONE = "topology.kubernetes.io/zone";
export const TOPOLOGY_REGION = "topology.kubernetes.io/region";
export const FAILURE_DOMAIN_BETA_ZONE = "failure-domain.beta.kubernetes.io/zone";
export const FAILURE_DOMAIN_BETA_REGION = "failure-domain.beta.kubernetes.io/region";
export const INSTANCE_TYPE = "node.kubernetes.io/instance-type";
export const INSTANCE_TYPE_BETA = "beta.kubernetes.io/instance-type";

/** Keeps a node out of every load balancer, unless its value is a false that Go's ParseBool accepts. */
export const EXCLUDE_FROM_EXTERNAL_LOAD_BALANCERS = "node.kubernetes.io/exclude-from-external-load-balancers";

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

/** Holds a Service until its load balancer is gone. cloud-provider/service/helpers/helper.go v0.36.3. */
export const LOAD_BALANCER_CLEANUP = "service.kubernetes.io/load-balancer-cleanup";
