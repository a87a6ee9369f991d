/** The Kubernetes cluster on whose behalf a call is made. */
export interface Cluster {
  /** UID of the namespace kube-system: globally unique and constant for the life of the cluster. */
  readonly id: string;
  /** Human-readable name of the cluster, also for names of cloud objects. Not unique. */
  readonly name?: string | undefined;
}

/** Kinds of node addresses, as in Kubernetes. */
export type NodeAddressType = "InternalIP" | "ExternalIP" | "Hostname" | "InternalDNS" | "ExternalDNS";

/** One address of an instance: an IP without prefix length, or a DNS name, according to `type`. */
export interface NodeAddress {
  /** Type of the address. */
  readonly type: NodeAddressType;
  /** The address. */
  readonly address: string;
}

/**
 * Addresses of an instance: a list in order of preference, or a record by type (`{ InternalIP: ["10.0.0.7"], Hostname: "web-1" }`), in
 * the order of its keys.
 */
export type NodeAddresses =
  | readonly NodeAddress[]
  | { readonly [type in NodeAddressType]?: string | readonly string[] | undefined };

/** Address families. */
export type IpFamily = "IPv4" | "IPv6";

/** Transport protocols of load-balancer ports. */
export type Protocol = "TCP" | "UDP" | "SCTP";

/** One aspect of the state of a provider or a load balancer, like a Kubernetes condition. */
export interface Condition {
  /** CamelCase name of the aspect, unique in its list. */
  readonly type: string;
  /** True or false; undefined if unknown. */
  readonly status: boolean | undefined;
  /** CamelCase reason. */
  readonly reason?: string | undefined;
  /** Human-readable message, one sentence. */
  readonly message?: string | undefined;
  /** When `status` last changed. */
  readonly lastTransitionTime?: Date | undefined;
}

/** A message to the user of the object although the call succeeds; becomes a Kubernetes event. */
export interface Diagnostic {
  /** `info` becomes a Normal event, `warning` and `error` a Warning. Default: `warning`. */
  readonly severity?: "info" | "warning" | "error" | undefined;
  /** CamelCase reason of the event. */
  readonly reason: string;
  /** One sentence. */
  readonly summary: string;
  /** Further details. */
  readonly detail?: string | undefined;
  /** Path of the request field that it refers to, in proto spelling: `spec.source_ranges[0]`. */
  readonly field?: string | undefined;
  /** URL of further documentation. */
  readonly helpUrl?: string | undefined;
}

/** One change that the call would have made in the cloud without `validateOnly`. */
export interface PlannedChange {
  /** The action. */
  readonly action: "create" | "update" | "delete" | "replace";
  /** Kind of cloud object, in the vendor's terms: `target group`. */
  readonly resourceType: string;
  /** ID or name of the object, if it has one already. */
  readonly resourceId?: string | undefined;
  /** What would change, one sentence. */
  readonly summary?: string | undefined;
}

/** Capabilities of a list. */
export interface ListFeatures {
  /** Maximum page size, 1 to 1000. Default: 500. */
  readonly maxPageSize?: number | undefined;
  /** True: one run of the iterable shows one snapshot. Default: false. */
  readonly consistentSnapshot?: boolean | undefined;
}

/** Capabilities of a watch. */
export interface WatchFeatures {
  /** How long a resume token stays valid across a restart of the provider. Default: it does not. */
  readonly tokenRetentionMs?: number | undefined;
  /** Usual delay between a change in the cloud and its event. */
  readonly expectedLatencyMs?: number | undefined;
}
