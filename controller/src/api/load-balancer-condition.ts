import { DELETION_PROTECTION } from "./annotations.ts";

/** Ours, in Service.status.conditions: True while the load balancer matches the spec. See docs/reference/conditions.md. */
export const LOAD_BALANCER_READY = "cloudwire.dev/LoadBalancerReady";

/**
 * Every reason of {@link LOAD_BALANCER_READY}, with how to fix it, as an instruction; undefined: no action is needed. Users may depend on
 * reasons, so that none is renamed.
 */
export const LOAD_BALANCER_REMEDIES = {
  Ready: undefined,
  NoAvailableNodes:
    "check which Nodes are initialized, and which have the label node.kubernetes.io/exclude-from-external-load-balancers",
  NodesNotRegistered: "check the instances of the nodes that the message names",
  Provisioning: undefined,
  Updating: undefined,
  Deleting: undefined,
  DeletionProtected: `annotate the Service with ${DELETION_PROTECTION}=false to delete both`,
  DriftNotRepaired: "find out what changes the load balancer in the cloud",
  LoadBalancerFailed: "check the load balancer in the cloud",
  Rejected: "change the field or annotation that the message names",
  QuotaExceeded: "request a higher quota, or free resources that count against it",
  Conflict: "free the resource that the message names, or request a different one",
  OwnedByAnotherCluster: "delete the resource in the cloud only if the cluster that the message names no longer exists",
  FeatureUnsupported: "change the field that the message names, or use a provider that supports it",
  CapabilityNotSupported: "run a version of the provider that supports it",
  InvalidCredentials: "give the provider valid credentials",
  PermissionDenied: "grant the provider the permission that the message names in the cloud",
  CloudSetupInvalid: "set up in the cloud, or in the provider's settings, what the message names",
  ProviderScopeChanged: "correct the provider's credentials, or accept the new scope as the message describes",
  Throttled: undefined,
  CloudBusy: "if this persists, check the load balancer in the cloud",
  DependencyInUse: "find the resource in the cloud that uses it, and remove that resource",
  CloudUnavailable: "check the cloud's status page, and the network between provider and cloud",
  ProviderUnavailable: "check that the provider runs, reaches its cloud and has valid credentials",
  ProviderNotReady: "check the conditions that the message names, and the provider's log",
  ProviderHandshakeFailed: "fix what the message names: the address, the certificates, or the provider's version",
  NoLoadBalancerProvider: "run a provider that serves it",
  OutcomeUnknown: undefined,
  SyncFailed: "check the log of the controller",
} as const satisfies Readonly<Record<string, string | undefined>>;

export type LoadBalancerReadyReason = keyof typeof LOAD_BALANCER_REMEDIES;
