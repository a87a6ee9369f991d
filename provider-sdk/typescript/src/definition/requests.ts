import type { Cluster, IpFamily, NodeAddress, Protocol } from "./common.ts";

/** A request for a watch. */
export interface WatchRequest {
  /** Continue after this token; throw `ProviderError("RESUME_TOKEN_EXPIRED")` if that is not possible. */
  readonly resumeToken?: string | undefined;
  /** True: yield every object first, then `{ kind: "bookmark", initialEventsEnd: true }`. */
  readonly sendInitialEvents: boolean;
}

/** The Service of a load balancer. */
export interface ServiceRef {
  /** metadata.namespace. */
  readonly namespace: string;
  /** metadata.name. */
  readonly name: string;
  /** metadata.uid. */
  readonly uid: string;
}

/** Identifies a load balancer. */
export interface LoadBalancerRef {
  /**
   * Natural key: at most 32 characters of `[a-z0-9-]`, starting with a letter, derived from cluster and Service UID, constant for the
   * Service. Use it as name or idempotency token in the cloud.
   */
  readonly key: string;
  /** The cluster whose load balancer it is. */
  readonly cluster: Cluster;
  /** The Service whose load balancer it is. */
  readonly service: ServiceRef;
  /** spec.loadBalancerClass. */
  readonly class?: string | undefined;
  /** The Service's annotations with the declared prefixes. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The provider's ID of the load balancer, a hint. */
  readonly id?: string | undefined;
  /** `operationId` of the last pending result, a hint. */
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
  /** Port number on the pods, if the Service has a number. */
  readonly targetPort?: number | undefined;
}

/** A node that is a target of a load balancer. */
export interface TargetNode {
  /** metadata.name. */
  readonly name: string;
  /** spec.providerID. */
  readonly providerId: string;
  /** The part of the provider ID after the prefix; undefined for an instance of another provider. */
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
  /** Nodes that become targets. */
  readonly added: readonly TargetNode[];
  /** Nodes that are no longer targets. */
  readonly removed: readonly TargetNode[];
  /** Nodes with the same provider ID and other properties, in their current state. */
  readonly changed: readonly TargetNode[];
}

/** The desired target nodes, always complete, whatever the wire form. */
export interface DesiredNodes {
  /** Every desired target. Empty means no node. The order has no meaning. */
  readonly nodes: readonly TargetNode[];
  /** Changes since the last acknowledged call. Undefined when its nodes are unknown, for example after a restart. */
  readonly nodesDiff?: NodesDiff | undefined;
  /** Opaque fingerprint of the nodes. Store it with the load balancer and return it in reads. */
  readonly nodesFingerprint: string;
}

/** Health check of the load balancer on its nodes. */
export interface HealthCheck {
  /** Port on the node. */
  readonly port: number;
  /** HTTP path that returns 200. Undefined: a TCP connection is sufficient. */
  readonly path?: string | undefined;
}

/** The desired state of a load balancer, always complete. What is absent is not requested. */
export interface DesiredLoadBalancer extends LoadBalancerRef, DesiredNodes {
  /** Ports to listen on, no two with the same port and protocol. */
  readonly ports: readonly ServicePort[];
  /** Families of its addresses, the preferred first; never empty. */
  readonly ipFamilies: readonly IpFamily[];
  /** CIDRs of the clients that may connect. Empty: all clients. */
  readonly sourceRanges: readonly string[];
  /** spec.externalTrafficPolicy: whether every node receives traffic, or only nodes with a ready endpoint. */
  readonly externalTrafficPolicy: "Cluster" | "Local";
  /** Health check of the nodes. Undefined: the provider chooses. */
  readonly healthCheck?: HealthCheck | undefined;
  /** Present: a client stays with its node for `timeoutMs` milliseconds. */
  readonly sessionAffinity?: { readonly timeoutMs: number } | undefined;
  /** Requested addresses, at most one per family. */
  readonly requestedIps: readonly string[];
  /** Readable name for the cloud object, if one must be chosen, in the same format as `key`. */
  readonly nameHint?: string | undefined;
  /** Tags for every object created, in addition to the provider's ownership tags. */
  readonly tags: Readonly<Record<string, string>>;
  /** Protection against deletion in the cloud. Undefined: do not change it. */
  readonly deletionProtection?: boolean | undefined;
  /** Opaque fingerprint of the spec. Store it with the load balancer and return it in reads. */
  readonly specFingerprint: string;
  /** Adopt this existing load balancer, regardless of its ownership tags. Only present when an operator requests it. */
  readonly adopt?: { readonly loadBalancerId: string } | undefined;
}
