import {
  type Capabilities as WireCapabilities,
  type GetProviderInfoRequest,
  type GetProviderInfoResponse,
  type GetProviderStatusResponse,
  type InstanceCapabilities as WireInstances,
  IpMode as WireIpMode,
  Limits as WireLimits,
  type ListCapability as WireList,
  type LoadBalancerCapabilities as WireLoadBalancers,
  LockScope as WireLockScope,
  type RouteCapabilities as WireRoutes,
  type VolumeCapabilities as WireVolumes,
  type WatchCapability as WireWatch,
} from "@cloudwire/proto/cloudprovider/v1/identity";
import type { IpFamily as WireIpFamily } from "@cloudwire/proto/cloudprovider/v1/common";
import type {
  Capabilities,
  ClusterRef,
  InstanceCapabilities,
  IpFamily,
  IpMode,
  Limits,
  ListCapability,
  LoadBalancerCapabilities,
  LockScope,
  ProviderInfo,
  RouteCapabilities,
  VolumeCapabilities,
  WatchCapability,
} from "../model/info.ts";
import { callRatesFromProto, durationMs, ipFamilyFromProto, protocolFromProto, timeMs } from "./scalars.ts";
import type { ProviderStatus } from "../model/status.ts";
import { conditionFromProto, diagnosticFromProto } from "./load-balancer.ts";

// What the contract says holds where a provider says nothing (proto/cloudprovider/v1/identity.proto).
const DEFAULT_CONSISTENCY_DELAY_MS = 60_000;
const DEFAULT_SOFT_CALL_MS = 10_000;
const DEFAULT_STATUS_INTERVAL_MS = 10_000;
const DEFAULT_RESYNC_INTERVAL_MS = 60_000;
/** What the contract demands of every provider. */
const LEAST_RECEIVE_BYTES = 4_194_304;
const DEFAULT_INLINE_NODES = 15_000;
const DEFAULT_ROUTE_PAGE = 500;
const DEFAULT_CONCURRENT_CHANGES = 10;

/** Largest batch and page of the contract; a provider that claims more gets no more. */
const MAX_ITEMS = 1000;

/** Longest soft_call_duration of the contract. */
const MAX_SOFT_CALL_MS = 30_000;

/** The contract this program speaks; the only major there is. */
export const CONTRACT_MAJOR = 1;
const CONTRACT_MINOR = 0;

/** Program name in the handshake. */
const CLIENT_NAME = "cloudwire-controller-manager";

/** The handshake, of this program in that version. */
export function providerInfoRequest(
  cluster: ClusterRef,
  version: string,
  maxReceiveBytes: number,
): GetProviderInfoRequest {
  return {
    client: {
      name: CLIENT_NAME,
      version,
      contractMajor: CONTRACT_MAJOR,
      contractMinor: CONTRACT_MINOR,
      features: [],
      maxReceiveBytes: BigInt(maxReceiveBytes),
    },
    cluster,
  };
}

/** The handshake's answer in our terms; what is not said gets the contract's default. Check {@link problemsOf} first. */
export function providerInfoFromProto(wire: GetProviderInfoResponse): ProviderInfo {
  return {
    name: wire.name,
    version: wire.version,
    contractMinor: wire.contractMinor,
    services: wire.services,
    bootId: wire.bootId,
    providerIdPrefixes: wire.providerIdPrefixes,
    scopeId: wire.scopeId,
    capabilities: capabilities(wire.capabilities),
    limits: limits(wire.limits),
    annotationPrefixes: wire.annotationPrefixes,
    nodeLabelKeys: wire.nodeLabelKeys,
    nodeAnnotationKeys: wire.nodeAnnotationKeys,
    diagnostics: wire.diagnostics.map((diagnostic) => diagnosticFromProto(diagnostic)),
    build: wire.build,
    homeUrl: wire.homeUrl,
  };
}

export function providerStatusFromProto(wire: GetProviderStatusResponse, receivedAtMs: number): ProviderStatus {
  return {
    ready: wire.ready,
    bootId: wire.bootId,
    scopeId: wire.scopeId,
    configRevision: wire.configRevision,
    conditions: wire.conditions.map((condition) => conditionFromProto(condition)),
    lastCloudSuccessTimeMs: timeMs(wire.lastCloudSuccessTime),
    credentialsExpireTimeMs: timeMs(wire.credentialsExpireTime),
    rateLimits: wire.rateLimits.map(({ name, limit, remaining, resetTime }) => ({
      name,
      limit: Number(limit),
      remaining: Number(remaining),
      resetTimeMs: timeMs(resetTime),
    })),
    receivedAtMs,
  };
}

/** What makes the answer unusable, one phrase each. Lenient where a default is safe, strict where wrong objects could be touched. */
export function problemsOf(wire: GetProviderInfoResponse): readonly string[] {
  const prefixes = wire.providerIdPrefixes;
  const empty: readonly (readonly [boolean, string])[] = [
    [wire.name === "", "name is empty"],
    [wire.bootId === "", "boot_id is empty"],
    [prefixes.length === 0, "provider_id_prefixes is empty"],
    [wire.annotationPrefixes.includes(""), "annotation_prefixes has an empty entry, which would send every annotation"],
    [wire.capabilities === undefined, "capabilities is absent"],
  ];
  const malformed = prefixes
    .filter((prefix) => !prefix.endsWith("://") || prefix === "://")
    .map((prefix) => `provider ID prefix "${prefix}" does not end in "://" after a scheme`);
  return [...empty.filter(([wrong]) => wrong).map(([, problem]) => problem), ...malformed];
}

function capabilities(wire: WireCapabilities | undefined): Capabilities {
  return {
    instances: mapDefined(wire?.instances, instances),
    loadBalancers: mapDefined(wire?.loadBalancers, loadBalancers),
    routes: mapDefined(wire?.routes, routes),
    volumes: mapDefined(wire?.volumes, volumes),
  };
}

function instances(wire: WireInstances): InstanceCapabilities {
  return {
    maxBatchSize: batchSize(wire.maxBatchSize),
    list: mapDefined(wire.list, list),
    watch: mapDefined(wire.watch, watch),
    shutdownState: wire.shutdownState,
    podCidrs: wire.podCidrs,
    existenceConsistencyDelayMs: durationMs(wire.existenceConsistencyDelay) ?? DEFAULT_CONSISTENCY_DELAY_MS,
    lookupByName: wire.lookupByName,
  };
}

function loadBalancers(wire: WireLoadBalancers): LoadBalancerCapabilities {
  const protocols = wire.protocols.flatMap((protocol) => protocolFromProto(protocol) ?? []);
  return {
    list: mapDefined(wire.list, list),
    watch: mapDefined(wire.watch, watch),
    nodeSets: wire.nodeSets,
    updateNodes: wire.updateNodes,
    validateOnly: wire.validateOnly,
    protocols: wire.protocols.length === 0 ? ["TCP"] : protocols,
    mixedProtocols: wire.mixedProtocols,
    ipFamilies: ipFamilies(wire.ipFamilies),
    dualStack: wire.dualStack,
    sourceRanges: wire.sourceRanges,
    requestedIp: wire.requestedIp,
    sessionAffinity: wire.sessionAffinity,
    externalTrafficPolicyLocal: wire.externalTrafficPolicyLocal,
    deletionProtection: wire.deletionProtection,
    ipModes: wire.ipModes.flatMap((mode) => ipMode(mode) ?? []),
    classes: wire.classes,
    maxPorts: orUndefined(wire.maxPorts),
    maxNodes: orUndefined(wire.maxNodes),
    needsNodePorts: wire.needsNodePorts,
    maxConcurrentChanges: orUndefined(wire.maxConcurrentChanges) ?? DEFAULT_CONCURRENT_CHANGES,
    lockScope: lockScope(wire.lockScope),
    adopt: wire.adopt,
  };
}

function routes(wire: WireRoutes): RouteCapabilities {
  return {
    maxBatchSize: batchSize(wire.maxBatchSize),
    maxPageSize: Math.min(MAX_ITEMS, orUndefined(wire.maxPageSize) ?? DEFAULT_ROUTE_PAGE),
    blackhole: wire.blackhole,
    targetAddresses: wire.targetAddresses,
    validateOnly: wire.validateOnly,
    ipFamilies: ipFamilies(wire.ipFamilies),
  };
}

function volumes(wire: WireVolumes): VolumeCapabilities {
  return {
    maxBatchSize: batchSize(wire.maxBatchSize),
    csiDrivers: wire.csiDrivers,
    inTreePlugins: wire.inTreePlugins,
  };
}

function limits(wire: WireLimits = WireLimits.fromPartial({})): Limits {
  return {
    maxConcurrentCalls: Math.max(1, wire.maxConcurrentCalls),
    maxReceiveBytes: orUndefined(Number(wire.maxReceiveBytes)) ?? LEAST_RECEIVE_BYTES,
    maxInlineNodes: orUndefined(wire.maxInlineNodes) ?? DEFAULT_INLINE_NODES,
    softCallDurationMs: Math.min(MAX_SOFT_CALL_MS, durationMs(wire.softCallDuration) ?? DEFAULT_SOFT_CALL_MS),
    minStatusIntervalMs: durationMs(wire.minStatusInterval) ?? DEFAULT_STATUS_INTERVAL_MS,
    minResyncIntervalMs: durationMs(wire.minResyncInterval) ?? DEFAULT_RESYNC_INTERVAL_MS,
    callRates: callRatesFromProto(wire.callRates),
  };
}

function list(wire: WireList): ListCapability {
  return { maxPageSize: batchSize(wire.maxPageSize), consistentSnapshot: wire.consistentSnapshot };
}

function watch(wire: WireWatch): WatchCapability {
  return { tokenRetentionMs: durationMs(wire.tokenRetention) ?? 0 };
}

/** A size within what the contract allows; a provider that says 0 takes one at a time. */
function batchSize(size: number): number {
  return Math.min(MAX_ITEMS, Math.max(1, size));
}

function ipFamilies(wire: readonly WireIpFamily[]): readonly IpFamily[] {
  return wire.length === 0 ? ["IPv4"] : wire.flatMap((family) => ipFamilyFromProto(family) ?? []);
}

function ipMode(mode: WireIpMode): IpMode | undefined {
  if (mode === WireIpMode.PROXY) return "Proxy";
  return mode === WireIpMode.VIP ? "VIP" : undefined;
}

/** A scope that is newer than this program gets the narrowest: one change at a time. */
function lockScope(scope: WireLockScope): LockScope {
  switch (scope) {
    case WireLockScope.UNSPECIFIED:
    case WireLockScope.SERVICE:
      return "service";
    case WireLockScope.LOCK_KEY:
      return "lockKey";
    default:
      return "provider";
  }
}

function mapDefined<Wire, Ours>(wire: Wire | undefined, convert: (wire: Wire) => Ours): Ours | undefined {
  return wire === undefined ? undefined : convert(wire);
}

/** 0 is the contract's word for "no limit known" or "the default". */
function orUndefined(value: number): number | undefined {
  return value === 0 ? undefined : value;
}
