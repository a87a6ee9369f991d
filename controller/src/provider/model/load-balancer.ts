import type { NodeAddress } from "../../api/node.ts";
import type { LoadBalancerIngress } from "../../api/service.ts";
import type { Absence } from "./instance.ts";

/** The Service of a load balancer. `uid` is its key. */
export interface ServiceRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The desired load balancer of a Service, without unsupported parts. */
export interface LoadBalancerSpec {
  readonly class?: string;
  readonly ports: readonly LoadBalancerPort[];
  /** In the Service's order. */
  readonly ipFamilies: readonly string[];
  /** CIDRs of allowed clients; empty: all. */
  readonly sourceRanges: readonly string[];
  /** "": unset. */
  readonly externalTrafficPolicy: string;
  /** HTTP on each node; undefined: the provider chooses. */
  readonly healthCheck: { readonly port: number; readonly path: string } | undefined;
  /** How long a client keeps its node; undefined: no affinity. */
  readonly affinityTimeoutMs: number | undefined;
  readonly requestedIps: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly nameHint: string;
  readonly tags: Readonly<Record<string, string>>;
  /** undefined: unset. */
  readonly deletionProtection?: boolean;
}

export interface LoadBalancerPort {
  readonly name: string;
  /** As in the Service; "": TCP. */
  readonly protocol: string;
  readonly port: number;
  readonly appProtocol?: string;
  readonly nodePort?: number;
  readonly targetPort?: number;
}

export interface TargetNode {
  readonly name: string;
  readonly providerId: string;
  /** Only those within the contract's limits. */
  readonly addresses: readonly NodeAddress[];
  readonly zone?: string;
  /** With declared keys. */
  readonly labels: Readonly<Record<string, string>>;
}

export type LoadBalancerPhase = "unknown" | "provisioning" | "active" | "updating" | "deleting" | "failed";

export interface LoadBalancer {
  readonly id: string;
  readonly service: ServiceRef;
  readonly phase: LoadBalancerPhase;
  /** For the Service's status, with the API server's default of ipMode. undefined: unknown; the published status stays. */
  readonly ingress: readonly LoadBalancerIngress[] | undefined;
  /** Fingerprint of the current spec; equal to ours: up to date. */
  readonly specFingerprint: string;
  /** Fingerprint of the current nodes. "": unknown, or not all are targets. */
  readonly nodesFingerprint: string;
  /** The provider's fingerprint of the cloud objects; a change without a call of ours is drift. */
  readonly observedFingerprint: string;
  readonly registeredNodes: number | undefined;
  readonly conditions: readonly ProviderCondition[];
  /** Present while work is in progress. */
  readonly operation: Operation | undefined;
  readonly tags: Readonly<Record<string, string>>;
  /** Load balancers with equal keys must not change concurrently, with lock scope "lockKey". "": none. */
  readonly lockKey: string;
  /** Nodes of the selection that are not targets yet. */
  readonly unregisteredNodes: readonly UnregisteredNode[];
  /** After an update of the nodes: the observed fingerprint before it. "": not reported. */
  readonly previousObservedFingerprint: string;
}

/** A node that the provider could not register as a target. */
export interface UnregisteredNode {
  readonly name: string;
  /** CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/** Work in the cloud that continues after the response. */
export interface Operation {
  /** Sent back as a hint; without it the provider must look it up. */
  readonly id: string;
  readonly stage: string;
  readonly progressPercent: number | undefined;
  /** Poll interval, 1 s to 60 s. */
  readonly pollAfterMs: number;
  readonly message: string;
}

/** A condition of a provider or a load balancer. */
export interface ProviderCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTimeMs: number | undefined;
}

/** A message for the user in a successful response. */
export interface Diagnostic {
  readonly severity: "info" | "warning" | "error";
  /** CamelCase; the event's reason. */
  readonly reason: string;
  readonly summary: string;
  readonly detail: string;
  /** Path of the affected field, or "". */
  readonly field: string;
  readonly helpUrl: string;
}

/** A change that a dry run (`validateOnly`) would have made. */
export interface PlannedChange {
  readonly action: "unknown" | "create" | "update" | "delete" | "replace";
  readonly resourceType: string;
  readonly resourceId: string;
  readonly summary: string;
}

/** A failure is a rejection, never "absent". */
export type LoadBalancerResult =
  | { readonly kind: "present"; readonly loadBalancer: LoadBalancer; readonly diagnostics: readonly Diagnostic[] }
  | ({ readonly kind: "absent"; readonly diagnostics: readonly Diagnostic[] } & Absence);

/** Comparison of the cloud objects with a desired load balancer, by the provider. */
export type LoadBalancerCheck =
  | { readonly kind: "matches"; readonly loadBalancer: LoadBalancer }
  /** What an Ensure would change, in the provider's words. */
  | { readonly kind: "differs"; readonly differences: readonly string[] }
  | { readonly kind: "missing" }
  /** A change is in progress. */
  | { readonly kind: "changing" }
  /** The provider cannot compare without changing. */
  | { readonly kind: "unsupported" };

/** Outcome of Ensure and UpdateNodes; unfinished work is in `loadBalancer.operation`. */
export interface LoadBalancerChange {
  /** undefined only with `validateOnly`, for a load balancer that does not exist. */
  readonly loadBalancer: LoadBalancer | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly plannedChanges: readonly PlannedChange[];
}

export interface LoadBalancerDeletion {
  /** True: nothing of the Service is left in the cloud. False: poll after `operation.pollAfterMs`. */
  readonly done: boolean;
  readonly operation: Operation | undefined;
  /** Remaining resources, informational. */
  readonly remaining: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly plannedChanges: readonly PlannedChange[];
}
