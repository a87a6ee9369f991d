/**
 * Ours, in Service.status.conditions: True while the load balancer is as the Service wishes. docs/explanation/load-balancers.md has the
 * reasons and what to do about each.
 */
export const LOAD_BALANCER_READY = "cloudwire.dev/LoadBalancerReady";

/** Every reason of {@link LOAD_BALANCER_READY}; users may branch on them, so none is renamed. */
export const LOAD_BALANCER_READY_REASONS = [
  "Ready",
  "NoNodes",
  "Provisioning",
  "Updating",
  "Deleting",
  "DeletionProtected",
  "DriftNotRepaired",
  "Failed",
  "Refused",
  "QuotaExceeded",
  "Conflict",
  "ProviderNotAuthorized",
  "Throttled",
  "CloudBusy",
  "ProviderUnavailable",
  "NotServed",
  "OutcomeUnknown",
  "SyncFailed",
] as const;

export type LoadBalancerReadyReason = (typeof LOAD_BALANCER_READY_REASONS)[number];
