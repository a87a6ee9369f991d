import type { CallContext, ChangeContext } from "./call-context.ts";
import type { Condition, IpFamily, ListFeatures, Protocol, WatchFeatures } from "./common.ts";
import type { WatchBookmark, WatchResync } from "./instances.ts";
import type { LoadBalancerRef, ServiceRef, DesiredLoadBalancer, DesiredNodes, WatchRequest } from "./requests.ts";
import type { Absent, Pending, PendingOptions, ResumeFrom, Unreachable } from "../results/results.ts";

/** Where a load balancer is in its life. */
export type LoadBalancerPhase = "PROVISIONING" | "ACTIVE" | "UPDATING" | "DELETING" | "FAILED";

/** One point at which traffic enters; `ip` or `hostname` or both. */
export interface LoadBalancerIngress {
  /** Address of the entrance. */
  readonly ip?: string | undefined;
  /** DNS name of the entrance. */
  readonly hostname?: string | undefined;
  /** Only with `ip`. Default: Kubernetes' own, VIP. */
  readonly ipMode?: "VIP" | "Proxy" | undefined;
  /** State of single ports, where it is worth telling. */
  readonly ports?: readonly {
    readonly port: number;
    readonly protocol: Protocol;
    /** CamelCase word for what is wrong with it. */
    readonly error?: string | undefined;
  }[];
}

/** One load balancer as the cloud has it. */
export interface LoadBalancer {
  readonly kind?: "loadBalancer" | undefined;
  /** The provider's id for it. */
  readonly id: string;
  /** The Service in its stamp. Required in lists; default in other answers: the Service asked for. */
  readonly service?: ServiceRef | undefined;
  /** Default: ACTIVE; with `operation`: PROVISIONING. */
  readonly phase?: LoadBalancerPhase | undefined;
  /** Where traffic enters. Undefined: not told, what was published stays. Empty: there is none. */
  readonly ingress?: readonly LoadBalancerIngress[] | undefined;
  /** Fingerprint of the wish in force, as it was sent. Default after a finished Ensure: the one just sent. */
  readonly specFingerprint?: string | undefined;
  /** Fingerprint of the nodes in force. Default after a finished change: the one just sent. */
  readonly nodesFingerprint?: string | undefined;
  /** Opaque fingerprint of the cloud's objects as read; another value than after the last Ensure means drift. */
  readonly observedFingerprint?: string | undefined;
  /** Number of nodes registered as targets. */
  readonly registeredNodes?: number | undefined;
  /** More about its state, for people and tools. */
  readonly conditions?: readonly Condition[] | undefined;
  /** Present while work goes on. */
  readonly operation?: PendingOptions | undefined;
  /** Tags of the cloud object. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** Load balancers with equal keys share a cloud object and must not be changed at once. */
  readonly lockKey?: string | undefined;
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

/** Facts about how a provider serves load balancers, feature by feature; what is not declared is never asked for. */
export interface LoadBalancerFeatures {
  /** Default: TCP only. */
  readonly protocols?: readonly Protocol[] | undefined;
  /** Ports of different protocols on one load balancer. Default: false. */
  readonly mixedProtocols?: boolean | undefined;
  /** Default: IPv4 only. */
  readonly ipFamilies?: readonly IpFamily[] | undefined;
  /** Two families on one load balancer. Default: false. */
  readonly dualStack?: boolean | undefined;
  /** Honors `sourceRanges`. Default: false. */
  readonly sourceRanges?: boolean | undefined;
  /** Honors `requestedIps`. Default: false. */
  readonly requestedIp?: boolean | undefined;
  /** Honors `sessionAffinity`. Default: false. */
  readonly sessionAffinity?: boolean | undefined;
  /** Honors policy Local with health checks on the node. Default: false. */
  readonly externalTrafficPolicyLocal?: boolean | undefined;
  /** Honors `deletionProtection`. Default: false. */
  readonly deletionProtection?: boolean | undefined;
  /** IP modes that may appear in the ingress. Default: VIP. */
  readonly ipModes?: readonly ("VIP" | "Proxy")[] | undefined;
  /** Values of spec.loadBalancerClass served here. Default: none, only Services without a class. */
  readonly classes?: readonly string[] | undefined;
  /** Most ports of one load balancer. Default: no limit known. */
  readonly maxPorts?: number | undefined;
  /** Most nodes of one load balancer. Default: no limit known. */
  readonly maxNodes?: number | undefined;
  /** Forwards to node ports, so Services must have them. Default: true. */
  readonly needsNodePorts?: boolean | undefined;
  /** Most changes at once. Default: 10. */
  readonly maxConcurrentChanges?: number | undefined;
  /** Which changes may not run at once: of one Service, of one `lockKey`, of the whole provider. Default: service. */
  readonly lockScope?: "service" | "lockKey" | "provider" | undefined;
  /** Honors `adopt`. Default: false. */
  readonly adopt?: boolean | undefined;
  /** Honors `context.validateOnly`. Default: false: such calls are refused before they reach the provider. */
  readonly validateOnly?: boolean | undefined;
  /** Node sets, which the SDK keeps in memory for every provider. `false` turns them off. */
  readonly nodeSets?: false | { readonly maxSets?: number | undefined; readonly maxNodes?: number | undefined };
  /** How lists are served. */
  readonly list?: ListFeatures | undefined;
  /** How watches are served. */
  readonly watch?: WatchFeatures | undefined;
}

interface LoadBalancerHandlersBase {
  /** What the methods do not show. */
  readonly features?: LoadBalancerFeatures | undefined;
  /**
   * Makes the load balancer be as wished: creates it, changes it, or finds nothing to do. May be called again at any
   * time, also for one that an earlier, interrupted call half made. With `context.validateOnly` changes nothing and may
   * answer nothing for one that does not exist.
   */
  readonly ensure: (
    wanted: DesiredLoadBalancer,
    context: ChangeContext,
  ) => Promise<LoadBalancer | Pending | undefined> | LoadBalancer | Pending | undefined;
  /**
   * Makes the load balancer and all its parts be gone, in every state; finding nothing is success. Ends normally when
   * nothing is left, answers {@link Pending} while something is.
   */
  readonly delete: (
    loadBalancer: LoadBalancerRef,
    context: ChangeContext,
  ) => Promise<Pending | undefined | void> | Pending | undefined | void;
  /**
   * Makes the targets be these nodes and touches nothing else; claims `load_balancers.update_nodes`. Without it node
   * changes arrive as {@link LoadBalancerHandlersBase.ensure}. Throw `ProviderError("LOAD_BALANCER_NOT_FOUND")` if there
   * is none.
   */
  readonly updateNodes?:
    | ((
        loadBalancer: LoadBalancerRef & DesiredNodes,
        context: ChangeContext,
      ) => Promise<LoadBalancer | Pending> | LoadBalancer | Pending)
    | undefined;
  /** Streams hints about load balancers; claims `load_balancers.watch`. */
  readonly watch?: ((request: WatchRequest, context: CallContext) => AsyncIterable<LoadBalancerEvent>) | undefined;
}

/** Reads one load balancer: its state, or how far a change is. */
export type GetLoadBalancer = (
  loadBalancer: LoadBalancerRef,
  context: CallContext,
) => Promise<LoadBalancer | Pending | Absent> | LoadBalancer | Pending | Absent;

/** Lists the load balancers that carry the stamp of `context.cluster`; claims `load_balancers.list`. */
export type ListLoadBalancers = (context: CallContext) => AsyncIterable<LoadBalancer | Unreachable | ResumeFrom>;

/** How a provider serves load balancers. Without `get` the SDK finds the load balancer in `list`. */
export type LoadBalancerHandlers = LoadBalancerHandlersBase &
  (
    | { readonly get: GetLoadBalancer; readonly list?: ListLoadBalancers | undefined }
    | { readonly get?: undefined; readonly list: ListLoadBalancers }
  );
