import type { LoadBalancerIngress, Service } from "../../../api/service.ts";
import type { EnsureLoadBalancerInput } from "../../../provider/model/client.ts";
import type { UnregisteredNode } from "../../../provider/model/load-balancer.ts";
import { needsUpdate } from "../predicates.ts";

/**
 * What this process knows of the load balancers of one Service. It belongs to one UID until nothing of that UID is left in the cloud: a
 * new Service of the same name waits. Losing it costs reads only, because the cloud is the source of truth.
 */
export interface ServiceRecord {
  readonly uid: string;
  /** Kept after the Service is gone, to decide whether the load balancer is deleted too. */
  readonly lastSeen: Service;
  /** The cluster no longer has the Service; another one may have its name. */
  readonly isDeleted: boolean;
  readonly state: State;
  /** Deleted once the present load balancer is published. */
  readonly previous: readonly PreviousLoadBalancer[];
  /** Providers that are known to hold nothing of the Service. */
  readonly cleared: ReadonlySet<string>;
  readonly rejection: Rejection | undefined;
  readonly drift: DriftHistory;
}

export type State = Unknown | Declined | Changing | Active | Deleting | Settled;

/** The cloud must be read. */
export interface Unknown {
  readonly kind: "unknown";
  /** undefined: no provider was asked for a load balancer. */
  readonly current: CurrentProvider | undefined;
  /** Monotonic. Lists that were requested earlier do not count. */
  readonly sinceMs: number;
}

/** The provider that has, or may have, a load balancer of the Service, and must delete it. */
export interface CurrentProvider {
  readonly provider: string;
  /** The Service as of the last request. */
  readonly sent: Service;
}

/** The provider's process `bootID` has responded NOT_RESPONSIBLE to this spec. */
export interface Declined {
  readonly kind: "declined";
  readonly service: Service;
  readonly bootID: string;
}

/** A change was requested and is not finished. */
export interface Changing extends CurrentProvider {
  readonly kind: "changing";
  readonly progress: Progress<Operation>;
  /** undefined: not known. */
  readonly acknowledged: Acknowledged | undefined;
  /** Only if nothing is acknowledged. */
  readonly hint: Hint | undefined;
}

/** The provider has acknowledged the load balancer, and no change is in progress. */
export interface Active {
  readonly kind: "active";
  readonly acknowledged: Acknowledged;
}

/** A deletion was requested and is not finished. Without `acknowledged`, which could be mistaken for the present state. */
export interface Deleting extends CurrentProvider {
  readonly kind: "deleting";
  readonly progress: Progress<DeleteOperation>;
  readonly hint: Hint | undefined;
}

interface Settled {
  /** `foreign`: no provider here serves its class. `gone`: deleted, and the finalizer removed; the Service may still exist. */
  readonly kind: "foreign" | "gone";
}

/** `operation`: of this request, or of an earlier request that it replaces. */
export type Progress<Op> =
  | {
      /** Without response yet: it may have been carried out. */
      readonly kind: "requested";
      /** The same for each retry of the same change. */
      readonly intent: string;
      readonly requestID: string;
      readonly operation: Op | undefined;
    }
  | { readonly kind: "accepted"; readonly operation: Op };

interface AnyOperation {
  /** "" if the provider has named none. */
  readonly id: string;
}

export interface DeleteOperation extends AnyOperation {
  /** Human-readable: what the deletion waits for, and what is left. */
  readonly detail?: string;
}

export interface Operation extends AnyOperation {
  readonly purpose: "ensure" | "update";
  readonly pollAfterMs: number;
}

/** What reads are compared with, to detect changes by other clients. */
export type Baseline =
  /** The cloud objects were not compared with the desired state since this process started, or since a change. */
  | { readonly kind: "unverified" }
  /** The provider's fingerprint of the cloud objects when they matched the desired state. "": it has none. */
  | { readonly kind: "verified"; readonly fingerprint: string };

export const UNVERIFIED: Baseline = { kind: "unverified" };

/** The provider could not register nodes as targets. */
export interface Unregistered {
  readonly nodes: readonly UnregisteredNode[];
  /** Of the nodes that were requested. */
  readonly fingerprint: string;
  readonly tries: number;
  /** Of the last try. Monotonic. */
  readonly triedAtMs: number;
}

/** What a provider has last acknowledged. */
export interface Acknowledged {
  /** The Service as of that time. */
  readonly service: Service;
  readonly provider: string;
  readonly loadBalancerID: string;
  /** undefined: requested by an earlier process; only the fingerprint is known. */
  readonly spec: EnsureLoadBalancerInput["spec"] | undefined;
  readonly specFingerprint: string;
  /** "": not acknowledged, because some nodes are no targets. */
  readonly nodesFingerprint: string;
  /** undefined: all nodes are targets. */
  readonly unregistered: Unregistered | undefined;
  readonly baseline: Baseline;
  /** See `ChangeOptions.lockKey`. May be "". */
  readonly lockKey: string;
  /** undefined while it serves no traffic. */
  readonly ingress: readonly LoadBalancerIngress[] | undefined;
}

export interface Present extends Acknowledged {
  readonly operation: Operation | undefined;
}

/** Identifies a load balancer to its provider, without its state. */
export interface Hint {
  readonly loadBalancerID: string;
  readonly lockKey: string;
  /** The last request of this process; shows whether a deletion protection is its own. */
  readonly spec: Acknowledged["spec"];
}

export interface PreviousLoadBalancer {
  readonly provider: string;
  /** undefined: the outcome of the request is not known. */
  readonly loadBalancerID: string | undefined;
}

/** The provider's process `bootID` has rejected this spec. Void for another spec or process, and after `untilMs`. */
export interface Rejection {
  readonly service: Service;
  readonly bootID: string;
  readonly message: string;
  /** Monotonic. */
  readonly untilMs: number;
}

/** The cloud differs from what was last acknowledged, without a request of this controller. */
export interface Drift {
  readonly kind: "missing" | "changed";
  /** Human-readable clause. */
  readonly what: string;
}

/** Repairs of one load balancer since a sweep last found it up to date. */
export interface Repairs {
  readonly count: number;
  /** Monotonic. */
  readonly lastMs: number;
}

export interface DriftHistory {
  /** A sweep requests a read of the load balancer. */
  readonly suspected: boolean;
  readonly repairs: Repairs | undefined;
  /** Not repaired for a day, because it returns after each repair. */
  readonly suspended: Drift | undefined;
}

export const NO_DRIFT: DriftHistory = { suspected: false, repairs: undefined, suspended: undefined };

export function currentProviderOf(record: ServiceRecord | undefined): CurrentProvider | undefined {
  const state = record?.state;
  switch (state?.kind) {
    case "unknown":
      return state.current;
    case "changing":
    case "deleting":
      // What the load balancer was made from takes precedence over later requests.
      return { provider: state.provider, sent: acknowledgedOf(record)?.service ?? state.sent };
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

/** The providers that may have released an address, a name or quota between the two records of one Service. */
export function releasedBy(before: ServiceRecord | undefined, after: ServiceRecord | undefined): readonly string[] {
  const left = new Set(ownersOf(after));
  const released = ownersOf(before).filter((provider) => !left.has(provider));
  const [was, is] = [acknowledgedOf(before), acknowledgedOf(after)];
  const isChanged = was !== undefined && was.provider === is?.provider && was.specFingerprint !== is.specFingerprint;
  return isChanged ? [...released, was.provider] : released;
}

/** Providers that have, or may have, a load balancer of the Service. */
function ownersOf(record: ServiceRecord | undefined): readonly string[] {
  const current = currentProviderOf(record);
  const previous = record?.previous.map(({ provider }) => provider) ?? [];
  return current === undefined ? previous : [current.provider, ...previous];
}

/** undefined: nothing is acknowledged, or it may be deleted. */
export function acknowledgedOf(record: ServiceRecord | undefined): Acknowledged | undefined {
  const state = record?.state;
  return state?.kind === "active" || state?.kind === "changing" ? state.acknowledged : undefined;
}

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

/** A request has no response yet: its outcome is not known. */
export function isUnanswered(record: ServiceRecord | undefined): boolean {
  return openRequest(record) !== undefined;
}

/** The ID of a request with this intent that has no response yet, to be sent again. */
export function openRequestID(record: ServiceRecord | undefined, intent: string): string | undefined {
  const open = openRequest(record);
  return open?.intent === intent ? open.requestID : undefined;
}

function openRequest(record: ServiceRecord | undefined) {
  const state = record?.state;
  if (state?.kind !== "changing" && state?.kind !== "deleting") return undefined;
  return state.progress.kind === "requested" ? state.progress : undefined;
}

/** The rejection in force for this Service by the provider's process `bootID`. */
export function rejectionOf(
  record: ServiceRecord | undefined,
  service: Service,
  bootID: string,
  nowMs: number,
): Rejection | undefined {
  const rejection = record?.rejection;
  const isInForce = rejection?.bootID === bootID && nowMs < rejection.untilMs;
  return isInForce && !needsUpdate(rejection.service, service) ? rejection : undefined;
}

export function isDeclined(record: ServiceRecord | undefined, service: Service, bootID: string): boolean {
  const state = record?.state;
  return state?.kind === "declined" && state.bootID === bootID && !needsUpdate(state.service, service);
}
