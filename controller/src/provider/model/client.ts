import type { ProviderError } from "./errors.ts";
import type { Instance, InstanceResult, NodeRef } from "./instance.ts";
import type {
  LoadBalancer,
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

/** What every call takes. The deadline is the contract's for that call and is not the caller's to choose. */
export interface CallOptions {
  /** The call is given up when this aborts; what it may have changed is then not known. */
  readonly signal: AbortSignal;
  /** @default "high" */
  readonly priority?: Priority;
}

export interface ReadOptions extends CallOptions {
  /** How old data may be. 0: the cloud is read now. */
  readonly maxDataAgeMs: number;
}

/** What every call that may change the cloud takes. */
export interface ChangeOptions extends CallOptions {
  /** Id of the intended change, the same when the same change is tried again. @default a new one */
  readonly requestId?: string;
  /** Check everything, change nothing, answer `plannedChanges`. Only where the capability says so. */
  readonly validateOnly?: boolean;
  /** Why, for audit logs: `service created`. */
  readonly trigger?: string;
  /** Asked when the call's turn has come, after all waits: a throw ends it unsent, as the cause of the error. @default it is sent */
  readonly refuse?: () => void;
  /** Lock key of the load balancer, as its provider last returned it. @default not known: the change runs alone where lock keys count */
  readonly lockKey?: string | undefined;
}

/** The load balancer a call is about. */
export interface LoadBalancerRef {
  readonly service: ServiceRef;
  readonly class?: string | undefined;
  /** Only those under declared prefixes: see `declaredAnnotations`. */
  readonly annotations: Readonly<Record<string, string>>;
  /** `operation.id` of the answer before. */
  readonly operationId?: string;
  /** `LoadBalancer.id`, if known. */
  readonly loadBalancerId?: string;
}

/** The nodes of a load balancer: spelled out, by reference, or as acknowledged before. */
export interface NodeSelection {
  readonly fingerprint: string;
  readonly count: number;
  readonly source:
    | { readonly kind: "inline"; readonly nodes: readonly TargetNode[] }
    | { readonly kind: "nodeSet"; readonly id: string }
    | { readonly kind: "unchanged" };
  /** Nodes that the contract does not allow, each with why. Told with the answer. */
  readonly leftOut?: readonly string[];
}

export interface EnsureLoadBalancerInput {
  readonly service: ServiceRef;
  readonly spec: LoadBalancerSpec;
  readonly specFingerprint: string;
  readonly nodes: NodeSelection;
  /** Fingerprint of the nodes that the provider last said to be in force. Equal ones are not sent again. */
  readonly acknowledgedNodes?: string | undefined;
  readonly operationId?: string;
  /** Take this one over, whoever stamped it. Only on an operator's explicit word. */
  readonly adoptLoadBalancerId?: string;
}

export interface UpdateNodesInput extends LoadBalancerRef {
  readonly nodes: NodeSelection;
}

/** One chunk of a node set. */
export interface NodeSetChunk {
  readonly nodeSetId: string;
  /** "" when the upload is the whole set. */
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

/** Everything of one kind in the provider's scope, all pages. */
export interface Listing<Item> {
  readonly items: readonly Item[];
  /** Only then is an item that is missing here absent. */
  readonly complete: boolean;
  /** Zones and regions that could not be read. */
  readonly unreachable: readonly string[];
  /** Where a watch may begin to continue this list without a gap; "" when not offered. */
  readonly resumeToken: string;
}

/** One hint of a watch; reads stay the truth. */
export interface WatchEvent<Hint> {
  readonly hint: Hint;
  /** Continue here after a break. */
  readonly resumeToken: string;
}

export type InstanceHint =
  | { readonly kind: "upsert"; readonly instance: Instance }
  | { readonly kind: "gone"; readonly providerId: string }
  | { readonly kind: "bookmark"; readonly initialEventsEnd: boolean }
  /** Read everything again: the provider or the stream lost count. */
  | { readonly kind: "resync"; readonly message: string };

export type LoadBalancerHint =
  | { readonly kind: "upsert"; readonly loadBalancer: LoadBalancer }
  | { readonly kind: "gone"; readonly service: ServiceRef }
  | { readonly kind: "bookmark"; readonly initialEventsEnd: boolean }
  | { readonly kind: "resync"; readonly message: string };

export interface WatchOptions {
  readonly signal: AbortSignal;
  /** Continue after this token. "" begins now. */
  readonly resumeToken: string;
  /** Only without token: send everything first. */
  readonly sendInitialEvents: boolean;
}

/** Calls that change nothing. They are repeated a few times when the provider is unavailable. */
export interface ProviderReads {
  /** One answer for each node, in order; never rejects for the sake of one node, and answers "unknown" for each when a call fails. */
  getInstances(nodes: readonly NodeRef[], options: ReadOptions): Promise<readonly InstanceResult[]>;
  listInstances(options: CallOptions): Promise<Listing<Instance>>;
  watchInstances(options: WatchOptions): AsyncIterable<WatchEvent<InstanceHint>>;
  getLoadBalancer(ref: LoadBalancerRef, options: CallOptions): Promise<LoadBalancerResult>;
  listLoadBalancers(options: CallOptions): Promise<Listing<LoadBalancer>>;
  watchLoadBalancers(options: WatchOptions): AsyncIterable<WatchEvent<LoadBalancerHint>>;
  listRoutes(options: CallOptions): Promise<RouteList>;
  /** As getInstances. */
  getVolumes(volumes: readonly VolumeRef[], options: ReadOptions): Promise<readonly VolumeResult[]>;
}

/** Calls that may change the cloud. They are never repeated. */
export interface ProviderChanges {
  ensureLoadBalancer(input: EnsureLoadBalancerInput, options: ChangeOptions): Promise<LoadBalancerChange>;
  updateLoadBalancerNodes(input: UpdateNodesInput, options: ChangeOptions): Promise<LoadBalancerChange>;
  deleteLoadBalancer(ref: LoadBalancerRef, options: ChangeOptions): Promise<LoadBalancerDeletion>;
  /** Changes what the provider remembers, and nothing at its cloud. */
  applyNodeSet(chunk: NodeSetChunk, options: CallOptions): Promise<NodeSetState>;
  ensureRoutes(routes: readonly Route[], options: ChangeOptions): Promise<RouteChanges>;
  deleteRoutes(routes: readonly Route[], options: ChangeOptions): Promise<RouteChanges>;
}

/**
 * The calls of the contract as promises of plain values. Every rejection is a ProviderError. Calls wait their turn: at most as many run as
 * the provider allows.
 */
export interface ProviderClient extends ProviderReads, ProviderChanges {}

/** Numbers changes, so that a provider can refuse what was overtaken on its way (proto/README.md LB-5), and holds them back while another may lead. */
export interface ChangeNumbers {
  /** Throws when no change may be sent now. */
  check(): void;
  /** Of the next change. Throws as {@link check} does. */
  next(): bigint;
  /** A provider refuses a change with `error`: it has applied one with a greater number. */
  rejected(error: ProviderError): void;
}

/** Low bits of a change's number, which count; above them is the epoch. More changes than that in one epoch run on into the next. */
export const CHANGE_COUNTER_BITS = 20n;

/** Epoch of the leader that gave a change that number; undefined: it is not said. */
export function epochOf(sequence: string | undefined): number | undefined {
  if (sequence === undefined || !/^\d{1,20}$/.test(sequence)) return undefined;
  return Number(BigInt(sequence) >> CHANGE_COUNTER_BITS);
}
