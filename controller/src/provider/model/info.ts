import type { CallRate } from "./call-rate.ts";
import type { Diagnostic } from "./load-balancer.ts";

/** Who a provider is and what it serves: its answer to the handshake. Constant for one `bootId`. */
export interface ProviderInfo {
  /** DNS-style, unique among providers of a cluster. */
  readonly name: string;
  readonly version: string;
  readonly contractMinor: number;
  /** Full names of all services on its socket. */
  readonly services: readonly string[];
  /** Another one after each start of the provider. */
  readonly bootId: string;
  /** Each ends in `://`; the first is the one it writes. */
  readonly providerIdPrefixes: readonly string[];
  /** What its credentials reach; opaque. "" until it has learned it from the cloud: it takes no calls before. */
  readonly scopeId: string;
  readonly capabilities: Capabilities;
  readonly limits: Limits;
  /** Prefixes of the Service annotations it reads; no others are sent. */
  readonly annotationPrefixes: readonly string[];
  /** Keys of the Node labels and annotations it needs; no others are sent. */
  readonly nodeLabelKeys: readonly string[];
  readonly nodeAnnotationKeys: readonly string[];
  /** What the operator should know. */
  readonly diagnostics: readonly Diagnostic[];
  readonly build: Readonly<Record<string, string>>;
  readonly homeUrl: string;
}

/** What is `undefined` is not served. */
export interface Capabilities {
  readonly instances: InstanceCapabilities | undefined;
  readonly loadBalancers: LoadBalancerCapabilities | undefined;
  readonly routes: RouteCapabilities | undefined;
  readonly volumes: VolumeCapabilities | undefined;
}

export interface ListCapability {
  readonly maxPageSize: number;
  readonly consistentSnapshot: boolean;
}

export interface WatchCapability {
  /** How long a resume token outlives a restart of the provider. */
  readonly tokenRetentionMs: number;
}

export interface InstanceCapabilities {
  readonly maxBatchSize: number;
  readonly list: ListCapability | undefined;
  readonly watch: WatchCapability | undefined;
  /** False: set no shutdown taints. */
  readonly shutdownState: boolean;
  readonly podCidrs: boolean;
  /** How long after its creation a machine may be missing from reads. */
  readonly existenceConsistencyDelayMs: number;
  /** False: Nodes without provider ID are left alone. */
  readonly lookupByName: boolean;
}

/** Kubernetes' spelling. */
export type Protocol = "TCP" | "UDP" | "SCTP";
export type IpFamily = "IPv4" | "IPv6";
export type IpMode = "VIP" | "Proxy";

/** Which changes of load balancers may not run at once: of one Service, of one lock key, any two. */
export type LockScope = "service" | "lockKey" | "provider";

export interface LoadBalancerCapabilities {
  readonly list: ListCapability | undefined;
  readonly watch: WatchCapability | undefined;
  readonly nodeSets: NodeSetCapability | undefined;
  /** False: node changes are sent as Ensure. */
  readonly updateNodes: boolean;
  readonly validateOnly: boolean;
  readonly protocols: readonly Protocol[];
  readonly mixedProtocols: boolean;
  readonly ipFamilies: readonly IpFamily[];
  readonly dualStack: boolean;
  readonly sourceRanges: boolean;
  readonly requestedIp: boolean;
  readonly sessionAffinity: boolean;
  readonly externalTrafficPolicyLocal: boolean;
  readonly deletionProtection: boolean;
  readonly ipModes: readonly IpMode[];
  /** Values of spec.loadBalancerClass served here. */
  readonly classes: readonly string[];
  /** undefined: no limit known. */
  readonly maxPorts: number | undefined;
  readonly maxNodes: number | undefined;
  readonly needsNodePorts: boolean;
  readonly maxConcurrentChanges: number;
  readonly lockScope: LockScope;
  readonly adopt: boolean;
}

export interface NodeSetCapability {
  readonly maxSets: number;
  readonly maxNodes: number;
  readonly durable: boolean;
}

export interface RouteCapabilities {
  readonly maxBatchSize: number;
  readonly maxPageSize: number;
  readonly blackhole: boolean;
  readonly targetAddresses: boolean;
  readonly validateOnly: boolean;
  readonly ipFamilies: readonly IpFamily[];
}

export interface VolumeCapabilities {
  readonly maxBatchSize: number;
  readonly csiDrivers: readonly string[];
  readonly inTreePlugins: readonly string[];
}

export interface Limits {
  readonly maxConcurrentCalls: number;
  readonly maxReceiveBytes: number;
  readonly maxInlineNodes: number;
  readonly softCallDurationMs: number;
  readonly minStatusIntervalMs: number;
  readonly minResyncIntervalMs: number;
  /** How often its cloud may be called; a class in none has no limit. */
  readonly callRates: readonly CallRate[];
}

/** The cluster that a provider works for. */
export interface ClusterRef {
  /** UID of the namespace kube-system. */
  readonly id: string;
  /** The operator's name for it, for people; not unique. */
  readonly name: string;
}
