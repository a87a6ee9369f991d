import type { ProviderError } from "./errors.ts";
import type { Instance, InstanceAnswer, NodeRef } from "./instance.ts";
import type {
  LoadBalancer,
  LoadBalancerCheck,
  LoadBalancerResult,
  LoadBalancerChange,
  LoadBalancerDeletion,
  LoadBalancerSpec,
  ServiceRef,
  TargetNode,
} from "./load-balancer.ts";
import type { Route, RouteChanges, RouteList } from "./route.ts";
import type { Priority } from "../../util/semaphore.ts";
import type { VolumeResult, VolumeRef } from "./volume.ts";

/** The deadline of a call is the contract's. */
export interface CallOptions {
  /** Cancels the call; its outcome is then unknown. */
  readonly signal: AbortSignal;
  /** @default "high" */
  readonly priority?: Priority;
}

export interface ReadOptions extends CallOptions {
  /** Maximum age of the data. 0: reads the cloud now. */
  readonly maxDataAgeMs: number;
}

export interface ChangeOptions extends CallOptions {
  /** ID of the intended change, the same for its retries. @default a new one */
  readonly requestId?: string;
  /** Dry run: returns `plannedChanges`. Only with that capability. */
  readonly validateOnly?: boolean;
  /** Cause for audit logs: `service created`. */
  readonly trigger?: string;
  /** Called when the call leaves the queue: an error cancels it and becomes the cause. @default it is sent */
  readonly refuse?: () => void;
  /** Lock key of the load balancer, as its provider last returned it. @default not known: the change runs alone where lock keys count */
  readonly lockKey?: string | undefined;
}

export type CheckOptions = CallOptions & Pick<ChangeOptions, "lockKey">;

export interface LoadBalancerRef {
  readonly service: ServiceRef;
  readonly class?: string | undefined;
  /** Only those with declared prefixes: see `declaredAnnotations`. */
  readonly annotations: Readonly<Record<string, string>>;
  /** `operation.id` of the previous response. */
  readonly operationId?: string;
  /** `LoadBalancer.id`, if known. */
  readonly loadBalancerId?: string;
}

/** The nodes of a load balancer: inline, by reference, or as acknowledged before. */
export interface NodeSelection {
  readonly fingerprint: string;
  readonly count: number;
  readonly source:
    | { readonly kind: "inline"; readonly nodes: readonly TargetNode[] }
    | { readonly kind: "nodeSet"; readonly id: string }
    | { readonly kind: "unchanged" };
  /** Violations of nodes that are not sent; reported with the result. */
  readonly leftOut?: readonly string[];
}

export interface EnsureLoadBalancerInput {
  readonly service: ServiceRef;
  readonly spec: LoadBalancerSpec;
  readonly specFingerprint: string;
  readonly nodes: NodeSelection;
  /** Fingerprint of the nodes that the provider acknowledged last. Equal ones are not sent again. */
  readonly acknowledgedNodes?: string | undefined;
  readonly operationId?: string;
  /** Adopts this load balancer regardless of its ownership tags. Only at an operator's explicit request. */
  readonly adoptLoadBalancerId?: string;
}

export interface UpdateNodesInput extends LoadBalancerRef {
  readonly nodes: NodeSelection;
}

export interface NodeSetChunk {
  readonly nodeSetId: string;
  /** "": the upload is the complete set. */
  readonly baseFingerprint: string;
  readonly targetFingerprint: string;
  readonly chunkIndex: number;
  readonly chunkCount: number;
  readonly upserts: readonly TargetNode[];
  readonly removedProviderIds: readonly string[];
  readonly targetCount: number;
}

export interface NodeSetState {
  readonly fingerprint: string;
  readonly count: number;
  readonly committed: boolean;
}

/** All objects of one kind in the provider's scope. */
export interface Listing<Item> {
  readonly items: readonly Item[];
  /** A missing item is absent only if true. */
  readonly complete: boolean;
  /** Zones and regions that could not be read. */
  readonly unreachable: readonly string[];
  /** Token for a watch that continues this list; "": not supported. */
  readonly resumeToken: string;
}

/** A hint of a watch; reads remain authoritative. */
export interface WatchEvent<Hint> {
  readonly hint: Hint;
  /** Token to resume after an interruption. */
  readonly resumeToken: string;
}

export type InstanceHint =
  | { readonly kind: "upsert"; readonly instance: Instance }
  | { readonly kind: "gone"; readonly providerId: string }
  | { readonly kind: "bookmark"; readonly initialEventsEnd: boolean }
  /** Read everything again: events may be missing. */
  | { readonly kind: "resync"; readonly message: string };

export type LoadBalancerHint =
  | { readonly kind: "upsert"; readonly loadBalancer: LoadBalancer }
  | { readonly kind: "gone"; readonly service: ServiceRef }
  | { readonly kind: "bookmark"; readonly initialEventsEnd: boolean }
  | { readonly kind: "resync"; readonly message: string };

export interface WatchOptions {
  readonly signal: AbortSignal;
  /** Resumes after this token. "": starts now. */
  readonly resumeToken: string;
  /** Sends all objects first. Only without token. */
  readonly sendInitialEvents: boolean;
}

/** Calls that change nothing. They are retried while the provider is unavailable. */
export interface ProviderReads {
  /** One result per node, in order; "unknown" for all nodes of a failed call. */
  getInstances(nodes: readonly NodeRef[], options: ReadOptions): Promise<readonly InstanceAnswer[]>;
  listInstances(options: CallOptions): Promise<Listing<Instance>>;
  watchInstances(options: WatchOptions): AsyncIterable<WatchEvent<InstanceHint>>;
  getLoadBalancer(ref: LoadBalancerRef, options: CallOptions): Promise<LoadBalancerResult>;
  /** Compares the cloud objects with the desired state, by EnsureLoadBalancer with `validate_only`. */
  checkLoadBalancer(input: EnsureLoadBalancerInput, options: CheckOptions): Promise<LoadBalancerCheck>;
  listLoadBalancers(options: CallOptions): Promise<Listing<LoadBalancer>>;
  watchLoadBalancers(options: WatchOptions): AsyncIterable<WatchEvent<LoadBalancerHint>>;
  listRoutes(options: CallOptions): Promise<RouteList>;
  /** Like getInstances. */
  getVolumes(volumes: readonly VolumeRef[], options: ReadOptions): Promise<readonly VolumeResult[]>;
}

/** Calls that may change the cloud. They are never retried. */
export interface ProviderChanges {
  ensureLoadBalancer(input: EnsureLoadBalancerInput, options: ChangeOptions): Promise<LoadBalancerChange>;
  updateLoadBalancerNodes(input: UpdateNodesInput, options: ChangeOptions): Promise<LoadBalancerChange>;
  deleteLoadBalancer(ref: LoadBalancerRef, options: ChangeOptions): Promise<LoadBalancerDeletion>;
  /** Changes the provider's cache, not its cloud. */
  applyNodeSet(chunk: NodeSetChunk, options: CallOptions): Promise<NodeSetState>;
  ensureRoutes(routes: readonly Route[], options: ChangeOptions): Promise<RouteChanges>;
  deleteRoutes(routes: readonly Route[], options: ChangeOptions): Promise<RouteChanges>;
}

/** All calls of the contract. Every rejection is a ProviderError. Calls are queued within the provider's limits. */
export interface ProviderClient extends ProviderReads, ProviderChanges {}

/** Numbers changes, so that a provider can reject superseded ones (proto/README.md LB-5), and blocks them while another process may lead. */
export interface ChangeNumbers {
  /** Throws when no change may be sent. */
  check(): void;
  /** Number of the next change. Throws like {@link check}. */
  next(): bigint;
  /** A provider has rejected a change because it has applied one with a greater number. */
  rejected(error: ProviderError): void;
}

/** Low bits of a change's number, a counter below the epoch. Overflow continues in the next epoch. */
export const CHANGE_COUNTER_BITS = 20n;

/** Epoch of a change's number; undefined: absent or invalid. */
export function epochOf(sequence: string | undefined): number | undefined {
  if (sequence === undefined || !/^\d{1,20}$/.test(sequence)) return undefined;
  return Number(BigInt(sequence) >> CHANGE_COUNTER_BITS);
}
