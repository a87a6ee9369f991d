import type { ObjectReference } from "./meta.ts";

/** An event before the recorder adds name, times and count. */
export interface EventInput {
  readonly regarding: ObjectReference;
  readonly type: EventType;
  /** UpperCamelCase, one of those below. */
  readonly reason: string;
  /** The recorder truncates it to 1,024 bytes. */
  readonly message: string;
  /** The IDs in the message are kept although each event has others: it reports one change, not one state. @default false */
  readonly keepsIDs?: boolean;
  /** What the message is about, such as the names of nodes. A message about others is another event. @default nothing */
  readonly about?: readonly string[];
}

export type EventType = "Normal" | "Warning";

/** core/v1 Event. */
export interface Event extends Pick<EventInput, "type" | "reason" | "message"> {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly involvedObject: ObjectReference;
  readonly component: string;
  readonly count: number;
  readonly firstTimestampMs: number;
  readonly lastTimestampMs: number;
}

// docs/reference/events.md has the objects, sources and messages.

// Node: cloud-provider/controllers/node/node_controller.go v0.36.3.
export const SYNCED = "Synced";

// Node, ours: upstream has no event for a Node that it cannot initialize.
export const INITIALIZE_NODE_FAILED = "InitializeNodeFailed";
export const INITIALIZE_NODE_DELAYED = "InitializeNodeDelayed";
export const PROVIDER_ID_MISMATCH = "ProviderIDMismatch";
export const NODE_DIFFERS_FROM_CLOUD = "NodeDiffersFromCloud";

// Node: cloud-provider/controllers/nodelifecycle/node_lifecycle_controller.go v0.36.3.
export const DELETING_NODE = "DeletingNode";
export const DELETING_NODE_FAILED = "DeletingNodeFailed";

// Node, ours: upstream has no deletion guard.
export const NODE_DELETION_DELAYED = "NodeDeletionDelayed";
export const TOO_MANY_NODE_DELETIONS = "TooManyNodeDeletions";

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

// Service, ours.
export const ADOPTING_LOAD_BALANCER = "AdoptingLoadBalancer";
export const LOAD_BALANCER_DELETION_WAITING = "LoadBalancerDeletionWaiting";
export const NODES_NOT_REGISTERED = "NodesNotRegistered";
export const LOAD_BALANCER_DRIFTED = "LoadBalancerDrifted";
export const LOAD_BALANCER_DRIFT_NOT_REPAIRED = "LoadBalancerDriftNotRepaired";
export const LOAD_BALANCER_DELETION_PROTECTED = "LoadBalancerDeletionProtected";
export const LOAD_BALANCER_RETAINED = "LoadBalancerRetained";
export const DELETED_PREVIOUS_LOAD_BALANCER = "DeletedPreviousLoadBalancer";
export const DELETE_PREVIOUS_LOAD_BALANCER_FAILED = "DeletePreviousLoadBalancerFailed";
export const NO_LOAD_BALANCER_PROVIDER = "NoLoadBalancerProvider";
export const LOAD_BALANCER_FEATURE_IGNORED = "LoadBalancerFeatureIgnored";

// Node: cloud-provider/controllers/route/route_controller.go v0.36.3.
export const FAILED_TO_CREATE_ROUTE = "FailedToCreateRoute";

// Namespace kube-system, ours.
export const ROUTE_TABLE_NEARLY_FULL = "RouteTableNearlyFull";
export const ROUTE_TABLE_FULL = "RouteTableFull";

// Node: kubernetes/pkg/controller/nodeipam/ipam/range_allocator.go v1.36.3.
export const CIDR_NOT_AVAILABLE = "CIDRNotAvailable";
export const CIDR_ASSIGNMENT_FAILED = "CIDRAssignmentFailed";

// Service and Node, ours: --audit-events.
export const PROVIDER_CHANGE = "ProviderChange";
export const PROVIDER_CHANGE_FAILED = "ProviderChangeFailed";

// CertificateSigningRequest and Node, ours: upstream has no such controller.
export const KUBELET_SERVING_CSR_NOT_APPROVED = "KubeletServingCSRNotApproved";

// PersistentVolume, ours: upstream's controller of that name had no events.
export const VOLUME_TOPOLOGY_MISMATCH = "VolumeTopologyMismatch";
export const VOLUME_NOT_LABELED = "VolumeNotLabeled";

// Lease: client-go/tools/leaderelection/resourcelock/leaselock.go v0.36.3.
export const LEADER_ELECTION = "LeaderElection";

// Lease, ours.
export const LEADER_PROVIDER_UNAVAILABLE = "LeaderProviderUnavailable";
export const LEADERSHIP_HANDOVER = "LeadershipHandover";
export const PROVIDER_SCOPE_CHANGED = "ProviderScopeChanged";
