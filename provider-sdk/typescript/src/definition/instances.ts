import type { ProviderError } from "../results/errors.ts";
import type { CallContext, ReadContext } from "./call-context.ts";
import type { ListFeatures, NodeAddress, NodeAddresses, WatchFeatures } from "./common.ts";
import type { WatchRequest } from "./requests.ts";
import type { Absent, NotOwned, ResumeFrom, Unreachable } from "../results/results.ts";

/** A Node whose instance is looked up. An `id` alone identifies the instance; without it, the name and the hints do. */
export interface NodeRef {
  /** metadata.name. */
  readonly name: string;
  /** metadata.uid. */
  readonly uid?: string | undefined;
  /** The part of spec.providerID after the prefix. Undefined: the Node has no provider ID yet. */
  readonly id?: string | undefined;
  /** The complete spec.providerID, with one of the provider's prefixes. */
  readonly providerId?: string | undefined;
  /** metadata.creationTimestamp of the Node. */
  readonly createTime?: Date | undefined;
  /** status.nodeInfo.systemUUID, for clouds whose instances have it. */
  readonly systemUuid?: string | undefined;
  /** Addresses in annotation `alpha.kubernetes.io/provided-node-ip`. */
  readonly providedNodeIps: readonly string[];
  /** status.addresses of the Node. */
  readonly addresses: readonly NodeAddress[];
  /** Labels whose keys are in `nodeLabelKeys`. */
  readonly labels: Readonly<Record<string, string>>;
  /** Annotations whose keys are in `nodeAnnotationKeys`. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** State of an instance that exists. There is no TERMINATED: return `absent("TERMINATED")`. */
export type InstanceState = "PENDING" | "RUNNING" | "STOPPING" | "STOPPED" | "TERMINATING";

/** One cloud instance. An omitted property does not change the Node's label or field. */
export interface Instance {
  readonly kind?: "instance" | undefined;
  /**
   * The cloud's ID, constant for the life of the instance. The SDK adds the provider-ID prefix, unless the ID already starts with one.
   */
  readonly id: string;
  /** Name of the instance in the cloud, by which a Node without provider ID is found. */
  readonly name: string;
  /** Becomes label `node.kubernetes.io/instance-type`. */
  readonly type?: string | undefined;
  /** Becomes label `topology.kubernetes.io/zone`. */
  readonly zone?: string | undefined;
  /** Becomes label `topology.kubernetes.io/region`. */
  readonly region?: string | undefined;
  /** Addresses of the instance in the cloud. Become status.addresses of the Node. */
  readonly addresses?: NodeAddresses | undefined;
  /** Default: unknown. */
  readonly state?: InstanceState | undefined;
  /** The cloud's name of the state, human-readable. */
  readonly stateReason?: string | undefined;
  /** Additional labels for the Node. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Pod CIDRs that the cloud allocated; only with feature `podCidrs`. */
  readonly podCidrs?: readonly string[] | undefined;
  /** When the instance was created. */
  readonly createTime?: Date | undefined;
  /** Opaque revision; it changes when any other property changes. */
  readonly revision?: string | undefined;
  /** When the cloud was read for this instance, for a cached result. Default: when the call began. */
  readonly readTime?: Date | undefined;
}

/** The result for one Node. */
export type InstanceResult = Instance | Absent | NotOwned;

/** The result for one Node of a batch: an error is that of this Node alone. */
export type InstanceBatchResult = InstanceResult | ProviderError | Error;

/** Yielded by a watch when the initial events are complete, or to provide a token. The SDK sends heartbeats itself. */
export interface WatchBookmark {
  readonly kind: "bookmark";
  /** True: every object that existed at the start has been yielded. Default: false. */
  readonly initialEventsEnd?: boolean | undefined;
  /** Where a later watch can continue. */
  readonly token?: string | undefined;
}

/** Yielded by a watch that missed events: the receiver lists again, the watch continues. */
export interface WatchResync {
  readonly kind: "resync";
  /** Human-readable explanation. */
  readonly message?: string | undefined;
  /** Where a later watch can continue. */
  readonly token?: string | undefined;
}

/** One event of a watch of instances. `token`: where a later watch can continue. */
export type InstanceEvent =
  | { readonly kind: "upsert"; readonly instance: Instance; readonly token?: string | undefined }
  | { readonly kind: "gone"; readonly id: string; readonly absence: Absent; readonly token?: string | undefined }
  | WatchBookmark
  | WatchResync;

/** Capabilities for instances that the handlers do not show. */
export interface InstanceFeatures {
  /** Maximum number of Nodes of one call, 1 to 1000. Default: 200. */
  readonly maxBatchSize?: number | undefined;
  /** Supports look-ups of Nodes without provider ID, by name and hints. Default: true. If false, the controller ignores such Nodes. */
  readonly lookupByName?: boolean | undefined;
  /** Distinguishes STOPPED from RUNNING. Default: true. */
  readonly shutdownState?: boolean | undefined;
  /** `podCidrs` contains pod CIDRs that the cloud allocated. Default: false. */
  readonly podCidrs?: boolean | undefined;
  /** How long after its creation an instance may be missing from reads. Default: the controller assumes 60 s. */
  readonly existenceConsistencyDelayMs?: number | undefined;
  /** Capabilities of `list`. */
  readonly list?: ListFeatures | undefined;
  /** Capabilities of `watch`. */
  readonly watch?: WatchFeatures | undefined;
}

interface InstanceHandlersBase {
  /** Capabilities that the methods do not show. */
  readonly features?: InstanceFeatures | undefined;
  /**
   * Lists all instances of the scope; claims `instances.list`. A normal end means that the list is complete, unless an {@link
   * Unreachable} was yielded. An error ends the list. Read lazily: only the requested pages are read.
   */
  readonly list?: ((context: CallContext) => AsyncIterable<Instance | Unreachable | ResumeFrom>) | undefined;
  /** Streams events about instances; claims `instances.watch`. */
  readonly watch?: ((request: WatchRequest, context: CallContext) => AsyncIterable<InstanceEvent>) | undefined;
}

/** Handlers for single instances. The SDK runs at most 16 look-ups concurrently and shares equal ones. */
export interface SingleInstanceHandlers extends InstanceHandlersBase {
  /** Looks up one instance. */
  readonly get: (node: NodeRef, context: ReadContext) => Promise<InstanceResult> | InstanceResult;
  readonly getMany?: undefined;
}

/** Handlers for batches of instances. */
export interface BatchInstanceHandlers extends InstanceHandlersBase {
  readonly get?: undefined;
  /** Looks up instances; returns one result for each Node, in the same order. */
  readonly getMany: (
    nodes: readonly NodeRef[],
    context: ReadContext,
  ) => Promise<readonly InstanceBatchResult[]> | readonly InstanceBatchResult[];
}

/** Handlers for instances. */
export type InstanceHandlers = SingleInstanceHandlers | BatchInstanceHandlers;
