/** Put on by kubelets started with --cloud-provider=external; lifted once the cloud's facts are on the Node. cloud-provider/api/well_known_taints.go v0.36.3. */
export const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";

/** The autoscaler is about to remove the node. cloud-provider/controllers/service/controller.go v0.36.3. */
export const TO_BE_DELETED_BY_CLUSTER_AUTOSCALER = "ToBeDeletedByClusterAutoscaler";
