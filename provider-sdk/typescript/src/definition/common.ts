/** The Kubernetes cluster on whose behalf a call is made. */
export interface Cluster {
  /** UID of the namespace kube-system: unique in the world and constant for the life of the cluster. */
  readonly id: string;
  /** The operator's name for the cluster, for people and for object names; not unique. */
  readonly name?: string | undefined;
}

/** Kinds of node addresses, as in Kubernetes. */
export type NodeAddressType = "InternalIP" | "ExternalIP" | "Hostname" | "InternalDNS" | "ExternalDNS";

/** One address of a machine: an IP without prefix length, or a DNS name, according to `type`. */
export interface NodeAddress {
  /** What kind of address it is. */
  readonly type: NodeAddressType;
  /** The address itself. */
  readonly address: string;
}

/**
 * Addresses of a machine as a provider may write them: a list in the order in which Kubernetes shall prefer them, or a
 * record by type (`{ InternalIP: ["10.0.0.7"], Hostname: "web-1" }`), taken in the order of its keys.
 */
export type NodeAddresses =
  | readonly NodeAddress[]
  | { readonly [type in NodeAddressType]?: string | readonly string[] | undefined };

/** Address families. */
export type IpFamily = "IPv4" | "IPv6";

/** Transport protocols of load-balancer ports. */
export type Protocol = "TCP" | "UDP" | "SCTP";

/** State of one aspect of a provider or a load balancer, shaped as Kubernetes conditions are. */
export interface Condition {
  /** CamelCase name of the aspect, unique in its list. */
  readonly type: string;
  /** True: holds. False: does not. Undefined: not known. */
  readonly status: boolean | undefined;
  /** CamelCase word for the cause. */
  readonly reason?: string | undefined;
  /** One sentence for people. */
  readonly message?: string | undefined;
  /** When `status` last changed. */
  readonly lastTransitionTime?: Date | undefined;
}

/** Something to tell the user of the object although the call succeeds; becomes a Kubernetes event. */
export interface Diagnostic {
  /** `info` becomes a Normal event, `warning` and `error` a Warning. Default: `warning`. */
  readonly severity?: "info" | "warning" | "error" | undefined;
  /** CamelCase word that names the case, the reason of the event. */
  readonly reason: string;
  /** One sentence. */
  readonly summary: string;
  /** More, if there is more to say. */
  readonly detail?: string | undefined;
  /** Path of the field of the request it is about, in proto spelling: `spec.source_ranges[0]`. */
  readonly field?: string | undefined;
  /** Where the user can read on. */
  readonly helpUrl?: string | undefined;
}

/** One change that a call with `validateOnly` would have made at the cloud. */
export interface PlannedChange {
  /** What would be done to it. */
  readonly action: "create" | "update" | "delete" | "replace";
  /** Kind of cloud object, in the vendor's words: `target group`. */
  readonly resourceType: string;
  /** Its id or name, if it has one already. */
  readonly resourceId?: string | undefined;
  /** What would be different, one sentence. */
  readonly summary?: string | undefined;
}

/** What a list can do. */
export interface ListFeatures {
  /** Largest page served, 1 to 1000. Default: 500. */
  readonly maxPageSize?: number | undefined;
  /** True: one run of the iterable shows one moment. Default: false. */
  readonly consistentSnapshot?: boolean | undefined;
}

/** What a watch can do. */
export interface WatchFeatures {
  /** How long a resume token stays good across a restart of the provider. Default: it does not. */
  readonly tokenRetentionMs?: number | undefined;
  /** How soon a change at the cloud is usually seen. */
  readonly expectedLatencyMs?: number | undefined;
}
