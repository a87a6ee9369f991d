import type { NodeAddress } from "../../api/node.ts";
import type { LoadBalancerIngress } from "../../api/service.ts";
import type { Absence } from "./instance.ts";

/** Which Service a load balancer is for. `uid` is its natural key. */
export interface ServiceRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What a Service wishes of its load balancer, without what its provider does not serve. */
export interface LoadBalancerSpec {
  readonly class?: string;
  readonly ports: readonly LoadBalancerPort[];
  /** The Service's first choice first. */
  readonly ipFamilies: readonly string[];
  /** CIDRs of clients that are let in; empty: everybody is. */
  readonly sourceRanges: readonly string[];
  /** "": not said. */
  readonly externalTrafficPolicy: string;
  /** By HTTP on each node; undefined: the provider checks its own way. */
  readonly healthCheck: { readonly port: number; readonly path: string } | undefined;
  /** How long a client stays with its node; undefined: it need not. */
  readonly affinityTimeoutMs: number | undefined;
  readonly requestedIps: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly nameHint: string;
  readonly tags: Readonly<Record<string, string>>;
  /** undefined: nothing is said of it. */
  readonly deletionProtection?: boolean;
}

export interface LoadBalancerPort {
  readonly name: string;
  /** As the Service has it; "": TCP. */
  readonly protocol: string;
  readonly port: number;
  readonly appProtocol?: string;
  readonly nodePort?: number;
  readonly targetPort?: number;
}

/** A Node as a target of load balancers. */
export interface TargetNode {
  readonly name: string;
  readonly providerId: string;
  /** Only those that the contract has room for. */
  readonly addresses: readonly NodeAddress[];
  readonly zone?: string;
  /** Under the keys that the provider declared. */
  readonly labels: Readonly<Record<string, string>>;
}

export type LoadBalancerPhase = "unknown" | "provisioning" | "active" | "updating" | "deleting" | "failed";

/** A load balancer as its cloud has it. */
export interface LoadBalancer {
  readonly id: string;
  readonly service: ServiceRef;
  readonly phase: LoadBalancerPhase;
  /** As it belongs in the Service's status, ipMode filled as the server would. undefined: not told, what was published stays. */
  readonly ingress: readonly LoadBalancerIngress[] | undefined;
  /** Fingerprint of the wish in force; equal to ours means that nothing needs to be done. */
  readonly specFingerprint: string;
  /** Fingerprint of the nodes in force. */
  readonly nodesFingerprint: string;
  /** Provider's fingerprint of the cloud's objects: another value than after our last change means drift. */
  readonly observedFingerprint: string;
  readonly registeredNodes: number | undefined;
  readonly conditions: readonly ProviderCondition[];
  /** Present while work goes on. */
  readonly operation: Operation | undefined;
  readonly tags: Readonly<Record<string, string>>;
  /** Load balancers with equal keys must not be changed at once, where lock scope is "lockKey". "" when there is none. */
  readonly lockKey: string;
}

/** Work that goes on at the cloud after an answer. */
export interface Operation {
  /** To be sent back as a hint; losing it costs a look-up. */
  readonly id: string;
  readonly stage: string;
  readonly progressPercent: number | undefined;
  /** When to ask again, within 1 s to 60 s. */
  readonly pollAfterMs: number;
  readonly message: string;
}

/** One aspect of the state of a provider or a load balancer. */
export interface ProviderCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTimeMs: number | undefined;
}

/** Something to tell the user that came with an answer that succeeded. */
export interface Diagnostic {
  readonly severity: "info" | "warning" | "error";
  /** CamelCase; the reason of the event. */
  readonly reason: string;
  readonly summary: string;
  readonly detail: string;
  /** Path of the field it is about, or "". */
  readonly field: string;
  readonly helpUrl: string;
}

/** One change that a call with `validateOnly` would have made. */
export interface PlannedChange {
  readonly action: "unknown" | "create" | "update" | "delete" | "replace";
  readonly resourceType: string;
  readonly resourceId: string;
  readonly summary: string;
}

/** Whether a load balancer exists. A failure is a rejection, never "absent". */
export type LoadBalancerResult =
  | { readonly kind: "present"; readonly loadBalancer: LoadBalancer; readonly diagnostics: readonly Diagnostic[] }
  | ({ readonly kind: "absent"; readonly diagnostics: readonly Diagnostic[] } & Absence);

/** Outcome of Ensure and UpdateNodes. Unfinished work is in `loadBalancer.operation`. */
export interface LoadBalancerChange {
  /** undefined only with `validateOnly`, for a load balancer that does not exist. */
  readonly loadBalancer: LoadBalancer | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly plannedChanges: readonly PlannedChange[];
}

/** Outcome of Delete. */
export interface LoadBalancerDeletion {
  /** True: nothing of the Service is left at the cloud. False: ask again after `operation.pollAfterMs`. */
  readonly done: boolean;
  readonly operation: Operation | undefined;
  /** What is still there, for people. */
  readonly remaining: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly plannedChanges: readonly PlannedChange[];
}
