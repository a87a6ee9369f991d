import type { Taint } from "./node.ts";

// k8s.io/api/core/v1/well_known_labels.go v0.36.3.
export const TOPOLOGY_ZONE = "topology.kubernetes.io/zone";
export const TOPOLOGY_REGION = "topology.kubernetes.io/region";
export const FAILURE_DOMAIN_BETA_ZONE = "failure-domain.beta.kubernetes.io/zone";
export const FAILURE_DOMAIN_BETA_REGION = "failure-domain.beta.kubernetes.io/region";
export const INSTANCE_TYPE = "node.kubernetes.io/instance-type";
export const INSTANCE_TYPE_BETA = "beta.kubernetes.io/instance-type";

/** Excludes a Node from every load balancer, unless the value is a false for Go's ParseBool. */
export const EXCLUDE_FROM_EXTERNAL_LOAD_BALANCERS = "node.kubernetes.io/exclude-from-external-load-balancers";

/** Set by kubelets with --cloud-provider=external; removed once the Node has its instance data. cloud-provider/api/well_known_taints.go v0.36.3. */
export const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";

/** The autoscaler is about to remove the Node. cloud-provider/controllers/service/controller.go v0.36.3. */
export const TO_BE_DELETED_BY_CLUSTER_AUTOSCALER = "ToBeDeletedByClusterAutoscaler";

/** On a Node whose instance is stopped. cloud-provider/api/well_known_taints.go v0.36.3. */
export const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";

/** `spec.taints` has no merge key and is always written whole. */
export function taintJson({ key, value, effect, timeAddedMs }: Taint): Readonly<Record<string, string>> {
  return {
    key,
    ...(value === "" ? {} : { value }),
    effect,
    ...(timeAddedMs === undefined ? {} : { timeAdded: new Date(timeAddedMs).toISOString().replace(/\.\d{3}Z$/, "Z") }),
  };
}

/** Keeps a Service until its load balancer is deleted. cloud-provider/service/helpers/helper.go v0.36.3. */
export const LOAD_BALANCER_CLEANUP = "service.kubernetes.io/load-balancer-cleanup";

/** Label of control-plane nodes. Admission plugin NodeRestriction lets no kubelet set it. */
export const CONTROL_PLANE_ROLE = "node-role.kubernetes.io/control-plane";
