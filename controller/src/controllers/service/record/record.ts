import type { LoadBalancerIngress, Service } from "../../../api/service.ts";
import type { EnsureLoadBalancerInput } from "../../../provider/model/client.ts";
import { needsUpdate } from "../predicates.ts";

/**
 * What this process knows of the load balancers of one Service. It belongs to one UID until nothing of that UID is left in the cloud: a
 * new Service of the same name waits for it. Losing it costs reads and nothing else, because the cloud has the truth.
 */
export interface ServiceRecord {
  readonly uid: string;
  /** Kept after the Service is gone: it decides whether the load balancer may go too. */
  readonly lastSeen: Service;
  /** The cluster has no such Service any more; another one may have its name. */
  readonly isDeleted: boolean;
  readonly state: State;
  /** Deleted once the present load balancer is published. */
  readonly previous: readonly PreviousLoadBalancer[];
  /** Providers that are known to hold nothing of the Service. */
  readonly cleared: ReadonlySet<string>;
  readonly rejection: Rejection | undefined;
  readonly drift: DriftHistory;
}

export type State = Unknown | Foreign | Declined | Changing | Active | Deleting | Gone;

/** The cloud must be read before anything is believed. */
export interface Unknown {
  readonly kind: "unknown";
  /** Who may hold a load balancer of the Service; undefined: nobody was asked for one. */
  readonly current: CurrentProvider | undefined;
  /** Monotonic. Lists that were begun earlier say nothing. */
  readonly sinceMs: number;
}

export interface CurrentProvider {
  readonly provider: string;
  /** The Service as it was when the provider was last asked. */
  readonly sent: Service;
}

/** Its class is not served here. */
export interface Foreign {
  readonly kind: "foreign";
}

/** The provider's process `bootID` has answered that the Service is not its own, given this spec. */
export interface Declined {
  readonly kind: "declined";
  readonly service: Service;
  readonly bootID: string;
}

/** A change was requested and is not finished. */
export interface Changing extends CurrentProvider {
  readonly kind: "changing";
  readonly progress: Progress<Operation>;
  /** What was in force before, or is being made. undefined: not known. */
  readonly acknowledged: Acknowledged | undefined;
  /** Only where nothing is acknowledged. */
  readonly hint: Hint | undefined;
}

/** The provider has acknowledged the load balancer, and nothing is under way. */
export interface Active {
  readonly kind: "active";
  readonly acknowledged: Acknowledged;
}

/** A deletion was requested and is not finished. Holds nothing that could be taken for the present state of the load balancer. */
export interface Deleting extends CurrentProvider {
  readonly kind: "deleting";
  readonly progress: Progress<DeleteOperation>;
  readonly hint: Hint | undefined;
}

/** Deleted, and its finalizer removed; the Service may still exist. */
export interface Gone {
  readonly kind: "gone";
}

/** How far a request is. `operation`: what the provider said of it, or of an earlier request that it replaces. */
export type Progress<Op> =
  | {
      /** Not answered yet: something may have come of it. */
      readonly kind: "requested";
      /** Equal for every attempt of the same change. */
      readonly intent: string;
      readonly requestID: string;
      readonly operation: Op | undefined;
    }
  | { readonly kind: "accepted"; readonly operation: Op };

export interface DeleteOperation {
  /** "" if the provider has named none. */
  readonly id: string;
}

export interface Operation extends DeleteOperation {
  readonly purpose: "ensure" | "update";
  readonly pollAfterMs: number;
}

/** What a provider has last acknowledged. */
export interface Acknowledged {
  /** The Service as it was then. */
  readonly service: Service;
  /** Name of the provider, from the options. */
  readonly provider: string;
  readonly loadBalancerID: string;
  /** undefined: an earlier process requested it, and only its fingerprint is known. */
  readonly spec: EnsureLoadBalancerInput["spec"] | undefined;
  readonly specFingerprint: string;
  readonly nodesFingerprint: string;
  /** The provider's fingerprint of the cloud's objects: another value means that somebody changed them. "" where it has none. */
  readonly observedFingerprint: string;
  /** Load balancers with equal keys must not be changed at the same time, where the provider says so. "" if there is none. */
  readonly lockKey: string;
  /** Where traffic enters; undefined while it serves none. */
  readonly ingress: readonly LoadBalancerIngress[] | undefined;
}

/** The present load balancer: what is acknowledged, and the change under way. */
export interface Present extends Acknowledged {
  readonly operation: Operation | undefined;
}

/** Names a load balancer to its provider. Says nothing of its state. */
export interface Hint {
  readonly loadBalancerID: string;
  readonly lockKey: string;
  /** What this process last requested: whether a deletion protection is its own. */
  readonly spec: Acknowledged["spec"];
}

/** What a provider holds that does not serve the Service any more. */
export interface PreviousLoadBalancer {
  readonly provider: string;
  /** undefined: something was requested, and what came of it is not known. */
  readonly loadBalancerID: string | undefined;
}

/** A provider's process has rejected this spec for good. Void for another spec, another process, and after `untilMs`. */
export interface Rejection {
  readonly service: Service;
  readonly bootID: string;
  readonly message: string;
  /** Monotonic. */
  readonly untilMs: number;
}

/** The cloud has something else than was last acknowledged, and nobody here asked for that. */
export interface Drift {
  readonly kind: "missing" | "changed";
  /** For people, one clause. */
  readonly what: string;
}

/** Repairs of one load balancer so far, without a sweep in between that found it as it should be. */
export interface Repairs {
  readonly count: number;
  /** Monotonic. */
  readonly lastMs: number;
}

/** What sweeps found, and how often it was repaired. */
export interface DriftHistory {
  /** A sweep gave reason to read the load balancer. */
  readonly suspected: boolean;
  readonly repairs: Repairs | undefined;
  /** Left unrepaired for long, because it returns after each repair. */
  readonly suspended: Drift | undefined;
}

export const NO_DRIFT: DriftHistory = { suspected: false, repairs: undefined, suspended: undefined };

/** Who has a load balancer of the Service, or may have one, and must delete it. */
export function currentProviderOf(record: ServiceRecord | undefined): CurrentProvider | undefined {
  const state = record?.state;
  switch (state?.kind) {
    case "unknown":
      return state.current;
    case "changing":
    case "deleting":
      return { provider: state.provider, sent: sentOf(state) };
    case "active":
      return { provider: state.acknowledged.provider, sent: state.acknowledged.service };
    case "foreign":
    case "declined":
    case "gone":
    case undefined:
      return undefined;
  }
  return state satisfies undefined;
}

/** What the load balancer was made from counts more than what was requested since. */
function sentOf(state: Changing | Deleting): Service {
  return state.kind === "changing" ? (state.acknowledged?.service ?? state.sent) : state.sent;
}

/** undefined: nothing is acknowledged, or it may be gone. */
export function acknowledgedOf(record: ServiceRecord | undefined): Acknowledged | undefined {
  const state = record?.state;
  return state?.kind === "active" || state?.kind === "changing" ? state.acknowledged : undefined;
}

/** As {@link acknowledgedOf}, with the change under way. */
export function presentOf(record: ServiceRecord | undefined): Present | undefined {
  const acknowledged = acknowledgedOf(record);
  const operation = record?.state.kind === "changing" ? record.state.progress.operation : undefined;
  return acknowledged && { ...acknowledged, operation };
}

export function hintOf(record: ServiceRecord | undefined): Hint | undefined {
  const state = record?.state;
  const acknowledged = acknowledgedOf(record);
  if (acknowledged === undefined)
    return state?.kind === "changing" || state?.kind === "deleting" ? state.hint : undefined;
  const { loadBalancerID, lockKey, spec } = acknowledged;
  return { loadBalancerID, lockKey, spec };
}

/** Something was requested, and it is not known what came of it. */
export function isUnanswered(record: ServiceRecord | undefined): boolean {
  const state = record?.state;
  return (state?.kind === "changing" || state?.kind === "deleting") && state.progress.kind === "requested";
}

/** The ID of a request with this intent that has no answer yet: it is sent again under the same ID. */
export function openRequestID(record: ServiceRecord | undefined, intent: string): string | undefined {
  const state = record?.state;
  if (state?.kind !== "changing" && state?.kind !== "deleting") return undefined;
  const { progress } = state;
  return progress.kind === "requested" && progress.intent === intent ? progress.requestID : undefined;
}

/** What the provider's process `bootID` rejects of this Service now. */
export function rejectionOf(
  record: ServiceRecord | undefined,
  service: Service,
  bootID: string,
  nowMs: number,
): Rejection | undefined {
  const rejection = record?.rejection;
  if (rejection === undefined) return undefined;
  const isInForce = rejection.bootID === bootID && nowMs < rejection.untilMs;
  return isInForce && !needsUpdate(rejection.service, service) ? rejection : undefined;
}

/** The provider's process `bootID` has declined this Service as it is. */
export function isDeclined(record: ServiceRecord | undefined, service: Service, bootID: string): boolean {
  const state = record?.state;
  return state?.kind === "declined" && state.bootID === bootID && !needsUpdate(state.service, service);
}
