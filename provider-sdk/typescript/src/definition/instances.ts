import type { ProviderError } from "../results/errors.ts";
import type { CallContext, ReadContext } from "./call-context.ts";
import type { ListFeatures, NodeAddress, NodeAddresses, WatchFeatures } from "./common.ts";
import type { WatchRequest } from "./requests.ts";
import type { Absent, NotOwned, ResumeFrom, Unreachable } from "../results/results.ts";

/** A Node whose machine is asked for. With an `id` that alone decides; without, the name and the hints do. */
export interface NodeRef {
  /** metadata.name. */
  readonly name: string;
  /** metadata.uid. */
  readonly uid?: string | undefined;
  /** The part of spec.providerID after the prefix. Undefined: the Node has no provider ID yet. */
  readonly id?: string | undefined;
  /** spec.providerID as it is, with one of the provider's prefixes. */
  readonly providerId?: string | undefined;
  /** metadata.creationTimestamp of the Node. */
  readonly createTime?: Date | undefined;
  /** status.nodeInfo.systemUUID, for clouds whose machines know it. */
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

/** State of a machine that exists. There is no TERMINATED: answer `absent("TERMINATED")`. */
export type InstanceState = "PENDING" | "RUNNING" | "STOPPING" | "STOPPED" | "TERMINATING";

/** One machine. A property that is left out leaves the Node's label or field alone. */
export interface Instance {
  readonly kind?: "instance" | undefined;
  /**
   * The cloud's id, the same for the life of the machine. The SDK puts the provider-ID prefix before it; an id that
   * already begins with one of the provider's prefixes is taken as it is.
   */
  readonly id: string;
  /** Name of the machine at the cloud, by which a Node without provider ID is found. */
  readonly name: string;
  /** Becomes label `node.kubernetes.io/instance-type`. */
  readonly type?: string | undefined;
  /** Becomes label `topology.kubernetes.io/zone`. */
  readonly zone?: string | undefined;
  /** Becomes label `topology.kubernetes.io/region`. */
  readonly region?: string | undefined;
  /** Addresses as the cloud has them. Become status.addresses of the Node. */
  readonly addresses?: NodeAddresses | undefined;
  /** Default: not told. */
  readonly state?: InstanceState | undefined;
  /** The cloud's word for the state, for people. */
  readonly stateReason?: string | undefined;
  /** More labels for the Node. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Pod ranges that the cloud allocated; only with feature `podCidrs`. */
  readonly podCidrs?: readonly string[] | undefined;
  /** When the machine was made. */
  readonly createTime?: Date | undefined;
  /** Opaque; another value means that some other property changed. */
  readonly revision?: string | undefined;
  /** When the cloud was read for this machine, if the answer comes from a cache. Default: when the call began. */
  readonly readTime?: Date | undefined;
}

/** The answer about one Node. */
export type InstanceResult = Instance | Absent | NotOwned;

/** The answer about one Node of many: an error is that of this Node alone. */
export type InstanceBatchResult = InstanceResult | ProviderError | Error;

/** Yielded by a watch when the initial events are complete, or to hand out a token. The SDK adds heartbeats itself. */
export interface WatchBookmark {
  readonly kind: "bookmark";
  /** True: every object that there was at the beginning has been yielded. Default: false. */
  readonly initialEventsEnd?: boolean | undefined;
  /** Where a later watch can continue. */
  readonly token?: string | undefined;
}

/** Yielded by a watch that lost count: the receiver lists again, the watch goes on. */
export interface WatchResync {
  readonly kind: "resync";
  /** Why, for people. */
  readonly message?: string | undefined;
  /** Where a later watch can continue. */
  readonly token?: string | undefined;
}

/** One event of a watch of machines. `token`: where a later watch can continue. */
export type InstanceEvent =
  | { readonly kind: "upsert"; readonly instance: Instance; readonly token?: string | undefined }
  | { readonly kind: "gone"; readonly id: string; readonly absence: Absent; readonly token?: string | undefined }
  | WatchBookmark
  | WatchResync;

/** Facts about how a provider serves machines, that its methods do not show. */
export interface InstanceFeatures {
  /** Most Nodes of one call of the controller, 1 to 1000. Default: 200. */
  readonly maxBatchSize?: number | undefined;
  /** Nodes without provider ID can be looked up by name and hints. Default: true; without it such Nodes stay alone. */
  readonly lookupByName?: boolean | undefined;
  /** STOPPED is told apart from RUNNING. Default: true. */
  readonly shutdownState?: boolean | undefined;
  /** `podCidrs` carries ranges that the cloud allocated. Default: false. */
  readonly podCidrs?: boolean | undefined;
  /** How long after its creation a machine may be missing from reads. Default: the controller assumes 60 s. */
  readonly existenceConsistencyDelayMs?: number | undefined;
  /** How lists are served. */
  readonly list?: ListFeatures | undefined;
  /** How watches are served. */
  readonly watch?: WatchFeatures | undefined;
}

interface InstanceHandlersBase {
  /** What the methods do not show. */
  readonly features?: InstanceFeatures | undefined;
  /**
   * Lists all machines of the scope; claims `instances.list`. A normal end says that it was complete, unless an
   * {@link Unreachable} was yielded; an error ends the walk. Read lazily: pages are asked for as they are needed.
   */
  readonly list?: ((context: CallContext) => AsyncIterable<Instance | Unreachable | ResumeFrom>) | undefined;
  /** Streams hints about machines; claims `instances.watch`. */
  readonly watch?: ((request: WatchRequest, context: CallContext) => AsyncIterable<InstanceEvent>) | undefined;
}

/** Machines, one by one: the SDK loops with at most 16 look-ups at once and shares equal ones. */
export interface SingleInstanceHandlers extends InstanceHandlersBase {
  /** Looks one machine up. */
  readonly get: (node: NodeRef, context: ReadContext) => Promise<InstanceResult> | InstanceResult;
  readonly getMany?: undefined;
}

/** Machines, many at once: answers in the order of the Nodes asked for, one for each. */
export interface BatchInstanceHandlers extends InstanceHandlersBase {
  readonly get?: undefined;
  /** Looks machines up; answers in the order asked for, one for each Node. */
  readonly getMany: (
    nodes: readonly NodeRef[],
    context: ReadContext,
  ) => Promise<readonly InstanceBatchResult[]> | readonly InstanceBatchResult[];
}

/** How a provider serves machines. */
export type InstanceHandlers = SingleInstanceHandlers | BatchInstanceHandlers;
