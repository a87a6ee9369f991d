// k8s.io/api/core/v1/well_known_labels.go v0.36.3.
export const TOPOLOGY_ZONE = "topology.kubernetes.io/zone";
export const TOPOLOGY_REGION = "topology.kubernetes.io/region";
export const FAILURE_DOMAIN_BETA_ZONE = "failure-domain.beta.kubernetes.io/zone";
export const FAILURE_DOMAIN_BETA_REGION = "failure-domain.beta.kubernetes.io/region";
export const INSTANCE_TYPE = "node.kubernetes.io/instance-type";
export const INSTANCE_TYPE_BETA = "beta.kubernetes.io/instance-type";

/** Keeps a node out of every load balancer, unless its value is a false that Go's ParseBool accepts. */
export const EXCLUDE_FROM_EXTERNAL_LOAD_BALANCERS = "node.kubernetes.io/exclude-from-external-load-balancers";
