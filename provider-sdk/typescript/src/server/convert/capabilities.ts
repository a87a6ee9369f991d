import {
  AnnotationType,
  type AnnotationSchema as WireAnnotationSchema,
  type CallRate as WireCallRate,
  type Capabilities,
  type InstanceCapabilities,
  type Limits,
  type ListCapability,
  type LoadBalancerCapabilities,
  LockScope,
  QuotaClass as WireQuotaClass,
  type RouteCapabilities,
  type VolumeCapabilities,
  type WatchCapability,
} from "@cloudwire/proto/cloudprovider/v1/identity";
import type { ListFeatures, WatchFeatures } from "../../definition/common.ts";
import type { InstanceHandlers } from "../../definition/instances.ts";
import type { LoadBalancerFeatures, LoadBalancerHandlers } from "../../definition/load-balancers.ts";
import type {
  AnnotationSchema,
  CallRate,
  ProviderDefinition,
  ProviderLimits,
  QuotaClass,
} from "../../definition/provider.ts";
import type { RouteHandlers } from "../../definition/routes.ts";
import type { VolumeHandlers } from "../../definition/volumes.ts";
import { toDuration } from "../../util/clock.ts";
import { toWireIpFamily, toWireProtocol } from "./common.ts";
import { toWireIpMode } from "./load-balancer.ts";

const defaultMaxBatchSize = 200;
const defaultMaxPageSize = 500;

/** Receive limit of the SDK's servers, both sides' default in this project. */
const defaultMaxReceiveBytes = 16 * 1_024 * 1_024;
const defaultMaxConcurrentCalls = 64;

/** What a provider claims: each method that exists, and the facts declared beside. */
export const toCapabilities = (definition: ProviderDefinition): Capabilities => ({
  instances: definition.instances && instanceCapabilities(definition.instances),
  loadBalancers: definition.loadBalancers && loadBalancerCapabilities(definition.loadBalancers),
  routes: definition.routes && routeCapabilities(definition.routes),
  volumes: definition.volumes && volumeCapabilities(definition.volumes),
});

const listCapability = (features: ListFeatures | undefined): ListCapability => ({
  maxPageSize: features?.maxPageSize ?? defaultMaxPageSize,
  consistentSnapshot: features?.consistentSnapshot ?? false,
});

const watchCapability = (features: WatchFeatures | undefined): WatchCapability => ({
  tokenRetention: optionalDuration(features?.tokenRetentionMs),
  expectedLatency: optionalDuration(features?.expectedLatencyMs),
});

const optionalDuration = (ms: number | undefined) => (ms === undefined ? undefined : toDuration(ms));

const instanceCapabilities = ({ features, list, watch }: InstanceHandlers): InstanceCapabilities => ({
  maxBatchSize: features?.maxBatchSize ?? defaultMaxBatchSize,
  list: list && listCapability(features?.list),
  watch: watch && watchCapability(features?.watch),
  shutdownState: features?.shutdownState ?? true,
  podCidrs: features?.podCidrs ?? false,
  existenceConsistencyDelay: optionalDuration(features?.existenceConsistencyDelayMs),
  lookupByName: features?.lookupByName ?? true,
});

const lockScopes = {
  service: LockScope.SERVICE,
  lockKey: LockScope.LOCK_KEY,
  provider: LockScope.PROVIDER,
} as const;

const loadBalancerCapabilities = (handlers: LoadBalancerHandlers): LoadBalancerCapabilities => {
  const features = handlers.features ?? {};
  return {
    list: handlers.list && listCapability(features.list),
    watch: handlers.watch && watchCapability(features.watch),
    nodeSets: nodeSetCapability(features.nodeSets),
    updateNodes: handlers.updateNodes !== undefined,
    ...specFeatures(features),
    ...trafficFeatures(features),
    maxConcurrentChanges: features.maxConcurrentChanges ?? 0,
    lockScope: lockScopes[features.lockScope ?? "service"],
    adopt: features.adopt ?? false,
    validateOnly: features.validateOnly ?? false,
  };
};

const defaultMaxNodeSets = 64;
const defaultMaxNodes = 20_000;

/** The SDK keeps node sets for every provider, in memory. */
const nodeSetCapability = (sets: LoadBalancerFeatures["nodeSets"]) =>
  sets === false
    ? undefined
    : { maxSets: sets?.maxSets ?? defaultMaxNodeSets, maxNodes: sets?.maxNodes ?? defaultMaxNodes, durable: false };

const specFeatures = (features: LoadBalancerFeatures) => ({
  sourceRanges: features.sourceRanges ?? false,
  requestedIp: features.requestedIp ?? false,
  sessionAffinity: features.sessionAffinity ?? false,
  externalTrafficPolicyLocal: features.externalTrafficPolicyLocal ?? false,
  deletionProtection: features.deletionProtection ?? false,
  classes: [...(features.classes ?? [])],
  maxPorts: features.maxPorts ?? 0,
  maxNodes: features.maxNodes ?? 0,
});

const trafficFeatures = (features: LoadBalancerFeatures) => ({
  protocols: (features.protocols ?? ["TCP"]).map(toWireProtocol),
  mixedProtocols: features.mixedProtocols ?? false,
  ipFamilies: (features.ipFamilies ?? ["IPv4"]).map(toWireIpFamily),
  dualStack: features.dualStack ?? false,
  ipModes: (features.ipModes ?? ["VIP"]).map(toWireIpMode),
  needsNodePorts: features.needsNodePorts ?? true,
});

const routeCapabilities = ({ features }: RouteHandlers): RouteCapabilities => ({
  maxBatchSize: features?.maxBatchSize ?? defaultMaxBatchSize,
  maxPageSize: features?.maxPageSize ?? defaultMaxPageSize,
  blackhole: features?.blackhole ?? false,
  targetAddresses: features?.targetAddresses ?? false,
  validateOnly: features?.validateOnly ?? false,
  ipFamilies: (features?.ipFamilies ?? ["IPv4"]).map(toWireIpFamily),
});

const volumeCapabilities = ({ features }: VolumeHandlers): VolumeCapabilities => ({
  maxBatchSize: features?.maxBatchSize ?? defaultMaxBatchSize,
  csiDrivers: [...(features?.csiDrivers ?? [])],
  inTreePlugins: [...(features?.inTreePlugins ?? [])],
});

/** What the provider can take, completed by the SDK's own limits. */
export const toLimits = (limits: ProviderLimits | undefined): Limits => ({
  maxConcurrentCalls: limits?.maxConcurrentCalls ?? defaultMaxConcurrentCalls,
  maxReceiveBytes: BigInt(limits?.maxReceiveBytes ?? defaultMaxReceiveBytes),
  maxInlineNodes: limits?.maxInlineNodes ?? 0,
  softCallDuration: optionalDuration(limits?.softCallDurationMs),
  minStatusInterval: optionalDuration(limits?.minStatusIntervalMs),
  minResyncInterval: optionalDuration(limits?.minResyncIntervalMs),
  callRates: (limits?.callRates ?? []).map(toWireCallRate),
});

/** The contract's numbers of quota classes, by the word that a definition has for them. */
export const quotaClasses = {
  instances: WireQuotaClass.INSTANCES,
  loadBalancers: WireQuotaClass.LOAD_BALANCERS,
  routes: WireQuotaClass.ROUTES,
  volumes: WireQuotaClass.VOLUMES,
} as const satisfies Record<QuotaClass, WireQuotaClass>;

const toWireCallRate = ({ classes, cloudCallsPerSecond, burst }: CallRate): WireCallRate => ({
  classes: (classes ?? []).map((quotaClass) => quotaClasses[quotaClass]),
  cloudCallsPerSecond,
  burst: burst ?? 0,
});

const annotationTypes = {
  string: AnnotationType.STRING,
  bool: AnnotationType.BOOL,
  integer: AnnotationType.INTEGER,
  duration: AnnotationType.DURATION,
  enum: AnnotationType.ENUM,
  cidrList: AnnotationType.CIDR_LIST,
  stringList: AnnotationType.STRING_LIST,
  map: AnnotationType.MAP,
} as const;

export const toWireAnnotationSchema = (schema: AnnotationSchema): WireAnnotationSchema => ({
  key: schema.key,
  type: annotationTypes[schema.type],
  allowedValues: [...(schema.allowedValues ?? [])],
  defaultValue: schema.defaultValue,
  description: schema.description,
  mutable: schema.mutable ?? false,
  deprecated: schema.deprecated ?? "",
});

/** Prefixes of the annotations wanted: the declared ones, or the domains of the annotations described. */
export const annotationPrefixes = (definition: ProviderDefinition): readonly string[] =>
  definition.annotationPrefixes ?? [
    ...new Set((definition.annotations ?? []).map(({ key }) => key.slice(0, key.indexOf("/") + 1))),
  ];
