import type { BackgroundContext } from "./call-context.ts";
import type { Condition, Diagnostic } from "./common.ts";
import type { InstanceHandlers } from "./instances.ts";
import type { LoadBalancerHandlers } from "./load-balancers.ts";
import type { RouteHandlers } from "./routes.ts";
import type { VolumeHandlers } from "./volumes.ts";

/** Methods whose requests a cloud counts together. */
export type QuotaClass = "instances" | "loadBalancers" | "routes" | "volumes";

/** How often the cloud account may be called on behalf of this cluster. */
export interface CallRate {
  /** The groups that share it; a group is in one rate at most. Default: all that are in no other. */
  readonly classes?: readonly QuotaClass[] | undefined;
  /** Requests to the cloud a second. Leave out what `check`, watches and other users of the account need. */
  readonly cloudCallsPerSecond: number;
  /** Requests that may be made at once after a pause. Default: those of one second. */
  readonly burst?: number | undefined;
}

/** What the provider can take. */
export interface ProviderLimits {
  /** Most calls at once, streams and status not counted, 1 to 1000. Default: 64. */
  readonly maxConcurrentCalls?: number | undefined;
  /** Largest message taken, in bytes; at least 4 MiB. Default: 16 MiB. */
  readonly maxReceiveBytes?: number | undefined;
  /** Most nodes in an inline node list. Default: 15,000. */
  readonly maxInlineNodes?: number | undefined;
  /** How long a change takes at most before it answers with pending; at most 30 s. Default: 10 s. */
  readonly softCallDurationMs?: number | undefined;
  /** Least time between two status calls. Default: 10 s. */
  readonly minStatusIntervalMs?: number | undefined;
  /** Least time between two full lists of one kind. Default: 60 s. */
  readonly minResyncIntervalMs?: number | undefined;
  /**
   * How often the cloud may be called; the controller keeps to it. It counts what is reported with `fetch` and
   * `recordCloudCall`. Default: no limit, until the cloud throttles.
   */
  readonly callRates?: readonly CallRate[] | undefined;
}

/** One Service annotation that the provider understands. */
export interface AnnotationSchema {
  /** Full key, domain-qualified. */
  readonly key: string;
  /** What values it takes; others are refused with `ANNOTATION_INVALID`. */
  readonly type: "string" | "bool" | "integer" | "duration" | "enum" | "cidrList" | "stringList" | "map";
  /** The values of an `enum`. */
  readonly allowedValues?: readonly string[] | undefined;
  /** What happens without it. */
  readonly defaultValue?: string | undefined;
  /** What it does, one or two sentences. */
  readonly description: string;
  /** True: may change while the load balancer lives. Default: false. */
  readonly mutable?: boolean | undefined;
  /** If it should no longer be used: what to use instead. */
  readonly deprecated?: string | undefined;
}

/** One call budget of the cloud account. */
export interface RateLimit {
  /** Constant name: `read`, `load-balancer writes`. */
  readonly name: string;
  /** Calls that the budget has when it is full. */
  readonly limit: number;
  /** Calls that are left of it. */
  readonly remaining: number;
  /** When it is full again. */
  readonly resetTime?: Date | undefined;
}

/** What a check of the cloud found besides that it works. */
export interface CheckResult {
  /** More conditions. `CloudReachable` and `CredentialsValid` override what the SDK derives. */
  readonly conditions?: readonly Condition[] | undefined;
  /** When the credentials end, if they do; operators are warned before. */
  readonly credentialsExpireTime?: Date | undefined;
  /** Version of the configuration in force. */
  readonly configRevision?: string | undefined;
  /** Call budgets of the account, as the cloud tells them. */
  readonly rateLimits?: readonly RateLimit[] | undefined;
}

interface ProviderBase {
  /** DNS-style name, unique among the providers of a cluster: `acme.example.com`. Also the domain of own reasons. */
  readonly name: string;
  /** Version of the provider program. */
  readonly version: string;
  /**
   * What the credentials reach: account, project, region. Opaque, no secrets, at most 253 bytes. A change stops every
   * destructive act of the controller until an operator confirms it. A function is called at the start and with each
   * check; until it has answered once, the handshake has no scope and calls are refused with PROVIDER_STARTING.
   */
  readonly scope: string | ((context: BackgroundContext) => Promise<string> | string);
  /**
   * Asks the cloud the cheapest question that proves that it can be reached with these credentials. Throw if not. Runs
   * every 60 s while all is well, every 10 s while not.
   */
  readonly check: (
    context: BackgroundContext,
  ) => Promise<CheckResult | undefined | void> | CheckResult | undefined | void;
  /** Machines behind Nodes. */
  readonly instances?: InstanceHandlers | undefined;
  /** Load balancers for Services. */
  readonly loadBalancers?: LoadBalancerHandlers | undefined;
  /** Routes to pod ranges. */
  readonly routes?: RouteHandlers | undefined;
  /** Volumes, for labels and node affinity of PersistentVolumes. */
  readonly volumes?: VolumeHandlers | undefined;
  /** How much the provider takes at once. */
  readonly limits?: ProviderLimits | undefined;
  /** Service annotations that the provider understands. Their domains are declared as prefixes. */
  readonly annotations?: readonly AnnotationSchema[] | undefined;
  /** Prefixes of annotations to receive. Default: the domains of `annotations`. */
  readonly annotationPrefixes?: readonly string[] | undefined;
  /** Keys of the Node labels that the provider needs. */
  readonly nodeLabelKeys?: readonly string[] | undefined;
  /** Keys of the Node annotations that the provider needs. */
  readonly nodeAnnotationKeys?: readonly string[] | undefined;
  /** What the operator should know: deprecated options in use, a missing right. */
  readonly diagnostics?: readonly Diagnostic[] | undefined;
  /** Build facts for bug reports; the SDK adds `sdk` and `runtime`. */
  readonly build?: Readonly<Record<string, string>> | undefined;
  /** Where the provider is documented. */
  readonly homeUrl?: string | undefined;
}

/**
 * A provider: facts about it and the methods it has. Each method that exists claims its capability; one that is left out
 * is a capability not claimed.
 */
export type ProviderDefinition = ProviderBase &
  (
    | {
        /** Prefix of the provider IDs, ending in `://`: `acme://`. */
        readonly idPrefix: string;
        readonly idPrefixes?: undefined;
      }
    | {
        readonly idPrefix?: undefined;
        /** Prefixes of the provider IDs; the first is the one written. Former schemes, machines of another product. */
        readonly idPrefixes: readonly string[];
      }
  );
