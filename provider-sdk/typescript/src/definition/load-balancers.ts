import type { CallContext, ChangeContext } from "./call-context.ts";
import type { Condition, IpFamily, ListFeatures, Protocol, WatchFeatures } from "./common.ts";
import type { WatchBookmark, WatchResync } from "./instances.ts";
import type { LoadBalancerRef, ServiceRef, DesiredLoadBalancer, DesiredNodes, WatchRequest } from "./requests.ts";
import type { Absent, Pending, PendingOptions, ResumeFrom, Unreachable } from "../results/results.ts";

/** Phase of a load balancer. */
export type LoadBalancerPhase = "PROVISIONING" | "ACTIVE" | "UPDATING" | "DELETING" | "FAILED";

/** One ingress point; `ip`, `hostname` or both. */
export interface LoadBalancerIngress {
  /** IP address. */
  readonly ip?: string | undefined;
  /** DNS name. */
  readonly hostname?: string | undefined;
  /** Only with `ip`. Default: VIP, as in Kubernetes. */
  readonly ipMode?: "VIP" | "Proxy" | undefined;
  /** Status of single ports, if relevant. */
  readonly ports?: readonly {
    readonly port: number;
    readonly protocol: Protocol;
    /** CamelCase reason of its error. */
    readonly error?: string | undefined;
  }[];
}

/** A node of the selection that is not registered as a target. */
export interface UnregisteredNode {
  /** Name of the Node. */
  readonly name: string;
  /** The Node's provider ID. */
  readonly providerId?: string | undefined;
  /** CamelCase reason: `InstanceStopped`. */
  readonly reason: string;
  /** Why the node is not registered, and what registers it, one sentence. */
  readonly message?: string | undefined;
}

/** The observed state of one load balancer. */
export interface LoadBalancer {
  readonly kind?: "loadBalancer" | undefined;
  /** The provider's ID of it. */
  readonly id: string;
  /** The Service in its ownership tags. Required in lists. Default in other results: the requested Service. */
  readonly service?: ServiceRef | undefined;
  /** Default: ACTIVE; with `operation`: PROVISIONING. */
  readonly phase?: LoadBalancerPhase | undefined;
  /** Ingress points. Undefined: not reported, and published addresses stay. Empty: there are none. */
  readonly ingress?: readonly LoadBalancerIngress[] | undefined;
  /** Fingerprint of the applied spec, as it was sent. Default after a finished Ensure: the one just sent. */
  readonly specFingerprint?: string | undefined;
  /** Fingerprint of the applied nodes. Default after a finished change: the one just sent. */
  readonly nodesFingerprint?: string | undefined;
  /** Opaque fingerprint of the cloud objects as read. A value other than after the last Ensure means drift. */
  readonly observedFingerprint?: string | undefined;
  /** Number of nodes registered as targets. */
  readonly registeredNodes?: number | undefined;
  /** Conditions. */
  readonly conditions?: readonly Condition[] | undefined;
  /** Present while a change is in progress. */
  readonly operation?: PendingOptions | undefined;
  /** Tags of the cloud object. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** Load balancers with equal keys share a cloud object and must not be changed concurrently. */
  readonly lockKey?: string | undefined;
  /**
   * Nodes of the selection that are not registered as targets. The SDK then reports no `nodesFingerprint`, and the controller repeats the
   * change; do not store the one just sent. Entries after the first 100 are dropped.
   */
  readonly unregisteredNodes?: readonly UnregisteredNode[] | undefined;
  /** Returned by `updateNodes`: the `observedFingerprint` as read before the change. */
  readonly previousObservedFingerprint?: string | undefined;
}

/** One event of a watch of load balancers. `token`: where a later watch can continue. */
export type LoadBalancerEvent =
  | { readonly kind: "upsert"; readonly loadBalancer: LoadBalancer; readonly token?: string | undefined }
  | {
      readonly kind: "gone";
      readonly service: ServiceRef;
      readonly id?: string | undefined;
      readonly absence: Absent;
      readonly token?: string | undefined;
    }
  | WatchBookmark
  | WatchResync;

/** Capabilities for load balancers. The controller never requests a feature that is not declared. */
export interface LoadBalancerFeatures {
  /** Default: TCP only. */
  readonly protocols?: readonly Protocol[] | undefined;
  /** Supports ports of different protocols on one load balancer. Default: false. */
  readonly mixedProtocols?: boolean | undefined;
  /** Default: IPv4 only. */
  readonly ipFamilies?: readonly IpFamily[] | undefined;
  /** Supports both families on one load balancer. Default: false. */
  readonly dualStack?: boolean | undefined;
  /** Supports `sourceRanges`. Default: false. */
  readonly sourceRanges?: boolean | undefined;
  /** Supports `requestedIps`. Default: false. */
  readonly requestedIp?: boolean | undefined;
  /** Supports `sessionAffinity`. Default: false. */
  readonly sessionAffinity?: boolean | undefined;
  /** Supports policy Local with health checks on the node. Default: false. */
  readonly externalTrafficPolicyLocal?: boolean | undefined;
  /** Supports `deletionProtection`. Default: false. */
  readonly deletionProtection?: boolean | undefined;
  /** IP modes that may appear in the ingress. Default: VIP. */
  readonly ipModes?: readonly ("VIP" | "Proxy")[] | undefined;
  /** Supported values of spec.loadBalancerClass. Default: none, only Services without a class. */
  readonly classes?: readonly string[] | undefined;
  /** Maximum number of ports of one load balancer. Default: no known limit. */
  readonly maxPorts?: number | undefined;
  /** Maximum number of nodes of one load balancer. Default: no known limit. */
  readonly maxNodes?: number | undefined;
  /** Forwards to node ports, so Services must have them. Default: true. */
  readonly needsNodePorts?: boolean | undefined;
  /** Maximum number of concurrent changes. Default: 10. */
  readonly maxConcurrentChanges?: number | undefined;
  /** Which changes must not run concurrently: of one Service, of one `lockKey`, of the whole provider. Default: service. */
  readonly lockScope?: "service" | "lockKey" | "provider" | undefined;
  /** Supports `adopt`. Default: false. */
  readonly adopt?: boolean | undefined;
  /** Supports `context.validateOnly`. Default: false; the SDK then rejects such calls. */
  readonly validateOnly?: boolean | undefined;
  /** Node sets, which the SDK keeps in memory for every provider. `false` turns them off. */
  readonly nodeSets?: false | { readonly maxSets?: number | undefined; readonly maxNodes?: number | undefined };
  /** Capabilities of `list`. */
  readonly list?: ListFeatures | undefined;
  /** Capabilities of `watch`. */
  readonly watch?: WatchFeatures | undefined;
}

interface LoadBalancerHandlersBase {
  /** Capabilities that the methods do not show. */
  readonly features?: LoadBalancerFeatures | undefined;
  /**
   * Creates the load balancer, or updates it to match the spec. May be called again at any time, also for a load balancer that an
   * interrupted call left half-created. With `context.validateOnly` it changes nothing and may return undefined for one that does not
   * exist.
   */
  readonly ensure: (
    wanted: DesiredLoadBalancer,
    context: ChangeContext,
  ) => Promise<LoadBalancer | Pending | undefined> | LoadBalancer | Pending | undefined;
  /**
   * Deletes the load balancer and all its parts, in any state; finding nothing is success. Returns when nothing is left; returns {@link
   * Pending} while something is.
   */
  readonly delete: (
    loadBalancer: LoadBalancerRef,
    context: ChangeContext,
  ) => Promise<Pending | undefined | void> | Pending | undefined | void;
  /**
   * Sets the targets to these nodes and changes nothing else; claims `load_balancers.update_nodes`. Without it node changes arrive as
   * {@link LoadBalancerHandlersBase.ensure}. Throw `ProviderError("LOAD_BALANCER_NOT_FOUND")` if there is no load balancer.
   */
  readonly updateNodes?:
    | ((
        loadBalancer: LoadBalancerRef & DesiredNodes,
        context: ChangeContext,
      ) => Promise<LoadBalancer | Pending> | LoadBalancer | Pending)
    | undefined;
  /** Streams events about load balancers; claims `load_balancers.watch`. */
  readonly watch?: ((request: WatchRequest, context: CallContext) => AsyncIterable<LoadBalancerEvent>) | undefined;
}

/** Reads one load balancer: its state, or the progress of a change. */
export type GetLoadBalancer = (
  loadBalancer: LoadBalancerRef,
  context: CallContext,
) => Promise<LoadBalancer | Pending | Absent> | LoadBalancer | Pending | Absent;

/** Lists the load balancers with the ownership tags of `context.cluster`; claims `load_balancers.list`. */
export type ListLoadBalancers = (context: CallContext) => AsyncIterable<LoadBalancer | Unreachable | ResumeFrom>;

/** Handlers for load balancers. Without `get` the SDK finds the load balancer in `list`. */
export type LoadBalancerHandlers = LoadBalancerHandlersBase &
  (
    | { readonly get: GetLoadBalancer; readonly list?: ListLoadBalancers | undefined }
    | { readonly get?: undefined; readonly list: ListLoadBalancers }
  );
