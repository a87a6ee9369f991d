import type { BackgroundContext } from "./call-context.ts";
import type { Condition, Diagnostic } from "./common.ts";
import type { InstanceHandlers } from "./instances.ts";
import type { LoadBalancerHandlers } from "./load-balancers.ts";
import type { RouteHandlers } from "./routes.ts";
import type { VolumeHandlers } from "./volumes.ts";

/** Quota class: methods whose requests a cloud counts together. */
export type QuotaClass = "instances" | "loadBalancers" | "routes" | "volumes";

/** Rate of requests to the cloud account that this cluster may cause. */
export interface CallRate {
  /** The quota classes that share the rate. Each class is in at most one rate. Default: all that are in no other. */
  readonly classes?: readonly QuotaClass[] | undefined;
  /** Requests to the cloud per second, without those of `check`, watches and other users of the account. */
  readonly cloudCallsPerSecond: number;
  /** Burst of requests after a pause. Default: the requests of one second. */
  readonly burst?: number | undefined;
}

/** Limits of the provider. */
export interface ProviderLimits {
  /** Maximum number of concurrent calls, 1 to 1000. Streams and status calls do not count. Default: 64. */
  readonly maxConcurrentCalls?: number | undefined;
  /** Maximum message size accepted, in bytes; at least 4 MiB. Default: 16 MiB. */
  readonly maxReceiveBytes?: number | undefined;
  /** Maximum number of nodes in an inline node list. Default: 15,000. */
  readonly maxInlineNodes?: number | undefined;
  /** Maximum time before a change returns pending; at most 30 s. Default: 10 s. */
  readonly softCallDurationMs?: number | undefined;
  /** Minimum time between two status calls. Default: 10 s. */
  readonly minStatusIntervalMs?: number | undefined;
  /** Minimum time between two full lists of one kind. Default: 60 s. */
  readonly minResyncIntervalMs?: number | undefined;
  /**
   * Rates of requests to the cloud; the controller stays within them. It counts the requests of `fetch` and `recordCloudCall`. Default:
   * no limit until the cloud throttles.
   */
  readonly callRates?: readonly CallRate[] | undefined;
}

/** One Service annotation that the provider supports. */
export interface AnnotationSchema {
  /** Full key, domain-qualified. */
  readonly key: string;
  /** Type of its value; the SDK rejects others with `ANNOTATION_INVALID`. */
  readonly type: "string" | "bool" | "integer" | "duration" | "enum" | "cidrList" | "stringList" | "map";
  /** The values of an `enum`. */
  readonly allowedValues?: readonly string[] | undefined;
  /** Default value or behavior. */
  readonly defaultValue?: string | undefined;
  /** Description, one or two sentences. */
  readonly description: string;
  /** True: a change updates the load balancer in place. Default: false, and the controller refuses a change. */
  readonly mutable?: boolean | undefined;
  /** Present if it is deprecated: what to use instead. */
  readonly deprecated?: string | undefined;
}

/** One call budget of the cloud account. */
export interface RateLimit {
  /** Constant name: `read`, `load-balancer writes`. */
  readonly name: string;
  /** Calls allowed per window. */
  readonly limit: number;
  /** Calls remaining in the window. */
  readonly remaining: number;
  /** When the next window starts. */
  readonly resetTime?: Date | undefined;
}

/** Additional results of a successful check of the cloud. */
export interface CheckResult {
  /** Additional conditions. `CloudReachable` and `CredentialsValid` override those of the SDK. */
  readonly conditions?: readonly Condition[] | undefined;
  /** When the credentials expire. The controller warns operators before. */
  readonly credentialsExpireTime?: Date | undefined;
  /** Version of the active configuration. */
  readonly configRevision?: string | undefined;
  /** Call budgets of the account, as the cloud reports them. */
  readonly rateLimits?: readonly RateLimit[] | undefined;
}

interface ProviderBase {
  /** DNS-style name, unique among the providers of a cluster: `acme.example.com`. Also the domain of vendor-specific reasons. */
  readonly name: string;
  /** Version of the provider program. */
  readonly version: string;
  /**
   * What the credentials give access to: account, project, region. Opaque, no secrets, at most 253 bytes. When it changes, the controller
   * stops everything destructive until an operator confirms the change. A function is called at the start and with each check; until it
   * first succeeds, the handshake has no scope and calls fail with PROVIDER_STARTING.
   */
  readonly scope: string | ((context: BackgroundContext) => Promise<string> | string);
  /**
   * Sends the cheapest request that proves that the cloud is reachable with these credentials. Throw if it fails. Runs every 60 s while
   * ready, every 10 s while not.
   */
  readonly check: (
    context: BackgroundContext,
  ) => Promise<CheckResult | undefined | void> | CheckResult | undefined | void;
  /** Instances behind Nodes. */
  readonly instances?: InstanceHandlers | undefined;
  /** Load balancers for Services. */
  readonly loadBalancers?: LoadBalancerHandlers | undefined;
  /** Routes to pod CIDRs. */
  readonly routes?: RouteHandlers | undefined;
  /** Volumes, for labels and node affinity of PersistentVolumes. */
  readonly volumes?: VolumeHandlers | undefined;
  /** Limits of the provider. */
  readonly limits?: ProviderLimits | undefined;
  /** Service annotations that the provider supports. Their domains are declared as prefixes. */
  readonly annotations?: readonly AnnotationSchema[] | undefined;
  /** Prefixes of annotations to receive. Default: the domains of `annotations`. */
  readonly annotationPrefixes?: readonly string[] | undefined;
  /** Keys of the Node labels that the provider needs. */
  readonly nodeLabelKeys?: readonly string[] | undefined;
  /** Keys of the Node annotations that the provider needs. */
  readonly nodeAnnotationKeys?: readonly string[] | undefined;
  /** Messages to the operator: deprecated options in use, a missing permission. */
  readonly diagnostics?: readonly Diagnostic[] | undefined;
  /** Build information for bug reports; the SDK adds `sdk` and `runtime`. */
  readonly build?: Readonly<Record<string, string>> | undefined;
  /** URL of the provider's documentation. */
  readonly homeUrl?: string | undefined;
}

/** A provider: its properties and handlers. Each handler that exists claims its capability. */
export type ProviderDefinition = ProviderBase &
  (
    | {
        /** Prefix of the provider IDs, ending in `://`: `acme://`. */
        readonly idPrefix: string;
        readonly idPrefixes?: undefined;
      }
    | {
        readonly idPrefix?: undefined;
        /** Prefixes of the provider IDs. The provider writes the first one. Others are for earlier schemes or another product. */
        readonly idPrefixes: readonly string[];
      }
  );
