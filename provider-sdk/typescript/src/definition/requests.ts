import type { Cluster, IpFamily, NodeAddress, Protocol } from "./common.ts";

/** What opens a watch. */
export interface WatchRequest {
  /** Continue after this token; throw `ProviderError("RESUME_TOKEN_EXPIRED")` if that is not possible. */
  readonly resumeToken?: string | undefined;
  /** True: yield every object first, then `{ kind: "bookmark", initialEventsEnd: true }`. */
  readonly sendInitialEvents: boolean;
}

/** Which Service a load balancer is for. */
export interface ServiceRef {
  /** metadata.namespace. */
  readonly namespace: string;
  /** metadata.name. */
  readonly name: string;
  /** metadata.uid. */
  readonly uid: string;
}

/** Which load balancer is meant. */
export interface LoadBalancerRef {
  /**
   * Natural key: at most 32 characters of `[a-z0-9-]`, a letter first, derived from cluster and Service UID, the same
   * in every call for this Service. Use it as name or idempotency token at the cloud.
   */
  readonly key: string;
  /** The cluster whose load balancer it is. */
  readonly cluster: Cluster;
  /** The Service whose load balancer it is. */
  readonly service: ServiceRef;
  /** spec.loadBalancerClass. */
  readonly class?: string | undefined;
  /** The Service's annotations under the declared prefixes. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The provider's id of the load balancer, a hint. */
  readonly id?: string | undefined;
  /** `operationId` of the last pending answer, a hint. */
  readonly operationId?: string | undefined;
}

/** One port of a load balancer. */
export interface ServicePort {
  /** spec.ports[].name. */
  readonly name?: string | undefined;
  /** Transport protocol. */
  readonly protocol: Protocol;
  /** spec.ports[].appProtocol. */
  readonly appProtocol?: string | undefined;
  /** Port on the load balancer. */
  readonly port: number;
  /** Port on every node to forward to. */
  readonly nodePort?: number | undefined;
  /** Port number on the pods, if the Service gives a number. */
  readonly targetPort?: number | undefined;
}

/** A node as target of a load balancer. */
export interface TargetNode {
  /** metadata.name. */
  readonly name: string;
  /** spec.providerID. */
  readonly providerId: string;
  /** The part of the provider ID after the prefix; undefined for a machine of another provider. */
  readonly id?: string | undefined;
  /** The first InternalIP, if the node has one. */
  readonly ip?: string | undefined;
  /** status.addresses. */
  readonly addresses: readonly NodeAddress[];
  /** Label `topology.kubernetes.io/zone`. */
  readonly zone?: string | undefined;
  /** Labels whose keys are in `nodeLabelKeys`. */
  readonly labels: Readonly<Record<string, string>>;
}

/** How nodes differ from those of the last acknowledged call for the same load balancer. */
export interface NodesDiff {
  /** Nodes that are to be targets and were not. */
  readonly added: readonly TargetNode[];
  /** Nodes that were targets and are not to be. */
  readonly removed: readonly TargetNode[];
  /** Same provider ID, other facts; as they are now. */
  readonly changed: readonly TargetNode[];
}

/** The nodes wanted, always resolved and complete, however they traveled. */
export interface DesiredNodes {
  /** Every node that shall be a target. Empty means no node at all. Order means nothing. */
  readonly nodes: readonly TargetNode[];
  /** Undefined when the nodes of the last call are not known, for example after a restart. */
  readonly nodesDiff?: NodesDiff | undefined;
  /** Opaque fingerprint of the nodes. Keep it with the load balancer and give it back in reads. */
  readonly nodesFingerprint: string;
}

/** How the load balancer asks a node whether it wants traffic. */
export interface HealthCheck {
  /** Port on the node. */
  readonly port: number;
  /** HTTP path that answers 200. Undefined: a connection is enough. */
  readonly path?: string | undefined;
}

/** The whole wish for a load balancer, each time; what is absent is not wished for. */
export interface DesiredLoadBalancer extends LoadBalancerRef, DesiredNodes {
  /** Ports to listen on, no two with the same port and protocol. */
  readonly ports: readonly ServicePort[];
  /** Families of its addresses, the preferred first; never empty. */
  readonly ipFamilies: readonly IpFamily[];
  /** Client ranges let in. Empty: everybody. */
  readonly sourceRanges: readonly string[];
  /** spec.externalTrafficPolicy: whether any node may be sent traffic, or only those that have an endpoint. */
  readonly externalTrafficPolicy: "Cluster" | "Local";
  /** Undefined: the provider's own way. */
  readonly healthCheck?: HealthCheck | undefined;
  /** Present: keep a client with its node for so long. */
  readonly sessionAffinity?: { readonly timeoutMs: number } | undefined;
  /** Addresses wanted, at most one a family. */
  readonly requestedIps: readonly string[];
  /** A readable name to use at the cloud if one must be chosen, under the same rule as `key`. */
  readonly nameHint?: string | undefined;
  /** Tags to put on every object made, besides the provider's own stamp. */
  readonly tags: Readonly<Record<string, string>>;
  /** Undefined: leave as it is. */
  readonly deletionProtection?: boolean | undefined;
  /** Opaque fingerprint of the wish. Keep it with the load balancer and give it back in reads. */
  readonly specFingerprint: string;
  /** Take over this existing load balancer, whoever stamped it; on an operator's word only. */
  readonly adopt?: { readonly loadBalancerId: string } | undefined;
}
