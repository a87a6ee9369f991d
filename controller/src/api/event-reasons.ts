// Node: cloud-provider/controllers/node/node_controller.go v0.36.3.
export const SYNCED = "Synced";

// Node: cloud-provider/controllers/nodelifecycle/node_lifecycle_controller.go v0.36.3.
export const DELETING_NODE = "DeletingNode";
export const DELETING_NODE_FAILED = "DeletingNodeFailed";

// Service: cloud-provider/controllers/service/controller.go v0.36.3.
export const ENSURING_LOAD_BALANCER = "EnsuringLoadBalancer";
export const ENSURED_LOAD_BALANCER = "EnsuredLoadBalancer";
export const DELETING_LOAD_BALANCER = "DeletingLoadBalancer";
export const DELETED_LOAD_BALANCER = "DeletedLoadBalancer";
export const UPDATED_LOAD_BALANCER = "UpdatedLoadBalancer";
/** Upstream's spelling. */
export const UNAVAILABLE_LOAD_BALANCER = "UnAvailableLoadBalancer";
export const SYNC_LOAD_BALANCER_FAILED = "SyncLoadBalancerFailed";
export const DELETE_LOAD_BALANCER_FAILED = "DeleteLoadBalancerFailed";
export const UPDATE_LOAD_BALANCER_FAILED = "UpdateLoadBalancerFailed";

// Node: cloud-provider/controllers/route/route_controller.go v0.36.3.
export const FAILED_TO_CREATE_ROUTE = "FailedToCreateRoute";

// Node: kubernetes/pkg/controller/nodeipam/ipam/range_allocator.go v1.36.3.
export const CIDR_NOT_AVAILABLE = "CIDRNotAvailable";
export const CIDR_ASSIGNMENT_FAILED = "CIDRAssignmentFailed";

// Lease: client-go/tools/leaderelection/resourcelock/leaselock.go v0.36.3.
export const LEADER_ELECTION = "LeaderElection";

// Lease, ours.
export const PROVIDER_SCOPE_CHANGED = "ProviderScopeChanged";
