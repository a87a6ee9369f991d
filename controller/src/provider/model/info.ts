import type { CallRate } from "./call-rate.ts";
import type { Diagnostic } from "./load-balancer.ts";

/** The handshake of a provider: identity and capabilities. Constant for one `bootId`. */
export interface ProviderInfo {
  /** DNS-style, unique in a cluster. */
  readonly name: string;
  readonly version: string;
  readonly contractMinor: number;
  /** Full names of all gRPC services on its socket. */
  readonly services: readonly string[];
  /** New at each start of the provider. */
  readonly bootId: string;
  /** Each ends in `://`; the provider writes the first one. */
  readonly providerIdPrefixes: readonly string[];
  /** Opaque ID of what its credentials reach. "" until it has reached its cloud: it accepts no calls before. */
  readonly scopeId: string;
  readonly capabilities: Capabilities;
  readonly limits: Limits;
  /** Only Service annotations with these prefixes are sent. */
  readonly annotationPrefixes: readonly string[];
  /** Service annotations that it declares. Others with its prefixes are sent too. */
  readonly annotations: readonly AnnotationSchema[];
  /** Only Node labels and annotations with these keys are sent. */
  readonly nodeLabelKeys: readonly string[];
  readonly nodeAnnotationKeys: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly build: Readonly<Record<string, string>>;
  readonly homeUrl: string;
}

export interface AnnotationSchema {
  readonly key: string;
  /** False: it applies only when a load balancer is created. */
  readonly isMutable: boolean;
  readonly defaultValue: string | undefined;
}

/** undefined: not supported. */
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
  /** How long a resume token is valid after a restart of the provider. */
  readonly tokenRetentionMs: number;
}

export interface InstanceCapabilities {
  readonly maxBatchSize: number;
  readonly list: ListCapability | undefined;
  readonly watch: WatchCapability | undefined;
  /** False: no shutdown taints. */
  readonly shutdownState: boolean;
  readonly podCidrs: boolean;
  /** How long after its creation an instance may be missing in reads. */
  readonly existenceConsistencyDelayMs: number;
  /** False: Nodes without provider ID are not changed. */
  readonly lookupByName: boolean;
}

export type Protocol = "TCP" | "UDP" | "SCTP";
export type IpFamily = "IPv4" | "IPv6";
export type IpMode = "VIP" | "Proxy";

/** Which load-balancer changes must not run concurrently: of one Service, of one lock key, any two. */
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
  /** Supported values of spec.loadBalancerClass. */
  readonly classes: readonly string[];
  /** undefined: no known limit. */
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
  /** Declared rates of its cloud; a class in none is unlimited. */
  readonly callRates: readonly CallRate[];
}

export interface ClusterRef {
  /** UID of the namespace kube-system. */
  readonly id: string;
  /** Informational; not unique. */
  readonly name: string;
}
