import { DELETION_PROTECTION } from "./annotations.ts";

/**
 * Ours, in Service.status.conditions: True while the load balancer is as the Service wishes. docs/explanation/load-balancers.md has the
 * reasons and what to do about each.
 */
export const LOAD_BALANCER_READY = "cloudwire.dev/LoadBalancerReady";

/** Every reason of {@link LOAD_BALANCER_READY}; users may branch on them, so none is renamed. */
export const LOAD_BALANCER_READY_REASONS = [
  "Ready",
  "NoAvailableNodes",
  "Provisioning",
  "Updating",
  "Deleting",
  "DeletionProtected",
  "DriftNotRepaired",
  "LoadBalancerFailed",
  "Rejected",
  "QuotaExceeded",
  "Conflict",
  "ProviderNotAuthorized",
  "Throttled",
  "CloudBusy",
  "ProviderUnavailable",
  "NoLoadBalancerProvider",
  "OutcomeUnknown",
  "SyncFailed",
] as const;

export type LoadBalancerReadyReason = (typeof LOAD_BALANCER_READY_REASONS)[number];

/** What somebody can do about each reason, as a clause of an instruction; undefined: nothing, it passes by itself. */
export const LOAD_BALANCER_REMEDIES: Readonly<Record<LoadBalancerReadyReason, string | undefined>> = {
  Ready: undefined,
  NoAvailableNodes:
    "see which Nodes are initialized, and which are kept out by label node.kubernetes.io/exclude-from-external-load-balancers",
  Provisioning: undefined,
  Updating: undefined,
  Deleting: undefined,
  DeletionProtected: `annotate the Service with ${DELETION_PROTECTION}=false, if both are to go`,
  DriftNotRepaired: "find at the cloud who changes it",
  LoadBalancerFailed: "look at the load balancer at the cloud",
  Rejected: "change what the message names",
  QuotaExceeded: "have the quota raised at the cloud, or free something that counts against it",
  Conflict: "free at the cloud what the message names, or ask for another",
  ProviderNotAuthorized: "mend the provider's credentials, or its rights at the cloud",
  Throttled: undefined,
  CloudBusy: "look at the load balancer at the cloud, if it lasts",
  ProviderUnavailable: "see that the provider runs, reaches its cloud and has valid credentials",
  NoLoadBalancerProvider: "run a provider that serves it",
  OutcomeUnknown: undefined,
  SyncFailed: "look at the controller's log",
};
