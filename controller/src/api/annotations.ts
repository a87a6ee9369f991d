/** Node address kubelet was told to use; one IP or two of different family. cloud-provider/api/well_known_annotations.go v0.36.3. */
export const PROVIDED_NODE_IP = "alpha.kubernetes.io/provided-node-ip";

/** Older way to say loadBalancerSourceRanges. k8s.io/api/core/v1/annotation_key_constants.go v0.36.3. */
export const LOAD_BALANCER_SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";

/** Set by the server on the bookmark that ends a streamed list. apimachinery/pkg/apis/meta/v1/types.go v0.36.3. */
export const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/**
 * Ours, on a Node: "true" lets the Node go although too many go at once. Every other condition still holds. Taken off as soon as the
 * machine is seen or the Node is Ready, so that it never serves twice. See docs/explanation/deletion-guard.md.
 */
export const RELEASE_DELETION = "cloudwire.dev/release-deletion";

/**
 * Ours, on a Node: keys of the labels that came from its cloud, separated by commas. They follow the cloud; a label that somebody else
 * set is not among them and stays as it is. See docs/explanation/nodes.md.
 */
export const CLOUD_LABELS = "cloudwire.dev/cloud-labels";

/**
 * Ours, on a Service: keeps its load balancer, and the Service with it, although the Service is deleted or gives up its type. "false"
 * also takes back a protection at the cloud. See docs/explanation/load-balancers.md.
 */
export const DELETION_PROTECTION = "service.cloudwire.dev/deletion-protection";

/**
 * Ours, on a Service: the id, as its provider says it, of a load balancer that exists and shall be the Service's, whoever made it. Counts with
 * --allow-load-balancer-adoption alone. See docs/explanation/load-balancers.md.
 */
export const ADOPT_LOAD_BALANCER = "service.cloudwire.dev/adopt-load-balancer";

/**
 * Ours, on the Lease of leader election, with the provider's name from --provider behind it: the account, project or region in which
 * that provider may change things. See docs/explanation/several-providers.md.
 */
export const SCOPE_ANNOTATION_PREFIX = "scope.cloudwire.dev/";

/**
 * Ours, on the Lease that cloud-node-lifecycle is led under, with the provider's name behind it: how many of its Nodes were deleted
 * within the last 10 minutes. JSON; see docs/explanation/deletion-guard.md.
 */
export const DELETIONS_ANNOTATION_PREFIX = "deletions.cloudwire.dev/";

/**
 * Ours, on the Lease of leader election: greater with each leader. The numbers of its changes begin with it, by which a provider refuses
 * those of a leader that was replaced. See docs/explanation/fencing.md.
 */
export const CHANGE_EPOCH = "cloudwire.dev/change-epoch";

/**
 * Ours, on the Lease of leader election: its holder cannot use all of its providers and looks for a replica that can. JSON; see
 * docs/explanation/high-availability.md.
 */
export const SUCCESSOR_WANTED = "successor.cloudwire.dev/wanted";

/** Ours, beside {@link SUCCESSOR_WANTED}: the replica that can, and to whom it says so. JSON. */
export const SUCCESSOR_OFFERED = "successor.cloudwire.dev/offered";
