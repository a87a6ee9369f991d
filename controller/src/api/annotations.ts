/** The node address that the kubelet was configured to use; one IP or two of different family. cloud-provider/api/well_known_annotations.go v0.36.3. */
export const PROVIDED_NODE_IP = "alpha.kubernetes.io/provided-node-ip";

/** Predecessor of loadBalancerSourceRanges. k8s.io/api/core/v1/annotation_key_constants.go v0.36.3. */
export const LOAD_BALANCER_SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";

/** Set by the server on the bookmark that ends a streamed list. apimachinery/pkg/apis/meta/v1/types.go v0.36.3. */
export const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/**
 * Ours, on a Node: "true" approves its deletion while the deletion circuit breaker is open. All other conditions still apply. Removed as
 * soon as the instance is seen or the Node is Ready, so that it works once. See docs/explanation/deletion-guard.md.
 */
export const APPROVE_DELETION = "cloudwire.dev/approve-deletion";

/**
 * Ours, on a Node: any value but "false" protects it from deletion although its instance does not exist. Its taints still change. See
 * docs/explanation/deletion-guard.md.
 */
export const NODE_DELETION_PROTECTION = "cloudwire.dev/deletion-protection";

/**
 * Ours, on a Node: comma-separated keys of the labels that the controller copied from the cloud and keeps current. Other labels are not
 * changed. See docs/explanation/nodes.md.
 */
export const CLOUD_LABELS = "cloudwire.dev/cloud-labels";

/**
 * Ours, on a Service: protects its load balancer, and the Service with it, when the Service is deleted or changes its type. "false"
 * also removes a protection in the cloud. See docs/explanation/load-balancers.md.
 */
export const DELETION_PROTECTION = "service.cloudwire.dev/deletion-protection";

/**
 * Ours, on a Service: the provider's ID of an existing load balancer that the Service adopts, regardless of who created it. Ignored without
 * --allow-load-balancer-adoption. See docs/explanation/load-balancers.md.
 */
export const ADOPT_LOAD_BALANCER = "service.cloudwire.dev/adopt-load-balancer";

/**
 * Ours, on the Lease of leader election, followed by the provider's name from --provider: the account, project or region in which the
 * provider may make changes. See docs/explanation/several-providers.md.
 */
export const SCOPE_ANNOTATION_PREFIX = "scope.cloudwire.dev/";

/**
 * Ours, on the Lease of cloud-node-lifecycle, followed by the provider's name: how many of its Nodes were deleted within the last
 * 10 minutes. JSON; see docs/explanation/deletion-guard.md.
 */
export const DELETIONS_ANNOTATION_PREFIX = "deletions.cloudwire.dev/";

/**
 * Ours, on the Lease of leader election: increases with each leader. It is the prefix of change sequence numbers, so that a provider can
 * reject changes of a replaced leader. See docs/explanation/fencing.md.
 */
export const CHANGE_EPOCH = "cloudwire.dev/change-epoch";

/**
 * Ours, on the Lease of leader election: its leader cannot use all of its providers and requests a handover to a replica that can. JSON;
 * see docs/explanation/high-availability.md.
 */
export const HANDOVER_REQUESTED = "handover.cloudwire.dev/requested";

/** Ours, next to {@link HANDOVER_REQUESTED}: the replica that can use the providers, and the leader it responds to. JSON. */
export const HANDOVER_CANDIDATE = "handover.cloudwire.dev/candidate";
