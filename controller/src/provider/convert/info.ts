import * as Wire from "@cloudwire/proto/cloudprovider/v1/identity";
import type { IpFamily as WireIpFamily } from "@cloudwire/proto/cloudprovider/v1/common";
import type { Duration } from "@cloudwire/proto/google/protobuf/duration";
import { wordOf } from "@cloudwire/proto/words";
import type * as Model from "../model/info.ts";
import { callRatesFromProto, durationMs, ipFamilyFromProto, protocolFromProto, timeMs } from "./scalars.ts";
import type { ProviderStatus } from "../model/status.ts";
import { conditionFromProto, diagnosticFromProto } from "./load-balancer.ts";

// Defaults of the contract (proto/cloudprovider/v1/identity.proto).
const DEFAULT_CONSISTENCY_DELAY_MS = 60_000;
const DEFAULT_SOFT_CALL_MS = 10_000;
const DEFAULT_STATUS_INTERVAL_MS = 10_000;
const DEFAULT_RESYNC_INTERVAL_MS = 60_000;
/** Minimum that the contract requires. */
const LEAST_RECEIVE_BYTES = 4_194_304;
const DEFAULT_INLINE_NODES = 15_000;
const DEFAULT_ROUTE_PAGE = 500;
const DEFAULT_CONCURRENT_CHANGES = 10;

/** Shortest intervals of the contract: shorter ones would be a busy loop. */
const MIN_INTERVAL_MS = 100;
/** Longest status and resync interval of the contract: a longer one would switch off the calls. */
const MAX_INTERVAL_MS = 3_600_000;
/** Longest existence_consistency_delay and token_retention of the contract. */
const MAX_RETENTION_MS = 86_400_000;

/** Largest batch and page of the contract. */
const MAX_ITEMS = 1000;

/** Longest soft_call_duration of the contract. */
const MAX_SOFT_CALL_MS = 30_000;

/** The only major version of the contract. */
export const CONTRACT_MAJOR = 1;
const CONTRACT_MINOR = 0;

/** Program name in the handshake. */
const CLIENT_NAME = "cloudwire-controller-manager";

/** The request of the handshake. */
export function providerInfoRequest(
  cluster: Model.ClusterRef,
  version: string,
  maxReceiveBytes: number,
): Wire.GetProviderInfoRequest {
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

/** Fills in the contract's defaults. Check {@link problemsOf} first. */
export function providerInfoFromProto(wire: Wire.GetProviderInfoResponse): Model.ProviderInfo {
  return {
    name: wire.name,
    version: wire.version,
    contractMinor: wire.contractMinor,
    services: wire.services,
    bootId: wire.bootId,
    // In one letter case, so that equal prefixes are equal texts.
    providerIdPrefixes: wire.providerIdPrefixes.map((prefix) => prefix.toLowerCase()),
    scopeId: wire.scopeId,
    capabilities: capabilities(wire.capabilities),
    limits: limits(wire.limits),
    annotationPrefixes: wire.annotationPrefixes,
    annotations: wire.annotations.map(({ key, mutable: isMutable, defaultValue }) => ({
      key,
      isMutable,
      defaultValue,
    })),
    nodeLabelKeys: wire.nodeLabelKeys,
    nodeAnnotationKeys: wire.nodeAnnotationKeys,
    diagnostics: wire.diagnostics.map((diagnostic) => diagnosticFromProto(diagnostic)),
    build: wire.build,
    homeUrl: wire.homeUrl,
  };
}

export function providerStatusFromProto(wire: Wire.GetProviderStatusResponse, receivedAtMs: number): ProviderStatus {
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

/** Problems that make the response unusable. Lenient where a default is safe, strict where wrong objects could be changed. */
export function problemsOf(wire: Wire.GetProviderInfoResponse): readonly string[] {
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

function capabilities(wire: Wire.Capabilities | undefined): Model.Capabilities {
  return {
    instances: mapDefined(wire?.instances, instances),
    loadBalancers: mapDefined(wire?.loadBalancers, loadBalancers),
    routes: mapDefined(wire?.routes, routes),
    volumes: mapDefined(wire?.volumes, volumes),
  };
}

function instances(wire: Wire.InstanceCapabilities): Model.InstanceCapabilities {
  return {
    maxBatchSize: batchSize(wire.maxBatchSize),
    list: mapDefined(wire.list, list),
    watch: mapDefined(wire.watch, watch),
    shutdownState: wire.shutdownState,
    podCidrs: wire.podCidrs,
    existenceConsistencyDelayMs: within(
      wire.existenceConsistencyDelay,
      [0, MAX_RETENTION_MS],
      DEFAULT_CONSISTENCY_DELAY_MS,
    ),
    lookupByName: wire.lookupByName,
  };
}

function loadBalancers(wire: Wire.LoadBalancerCapabilities): Model.LoadBalancerCapabilities {
  const protocols = wire.protocols.flatMap((protocol) => protocolFromProto(protocol) ?? []);
  return {
    ...wire,
    list: mapDefined(wire.list, list),
    watch: mapDefined(wire.watch, watch),
    protocols: wire.protocols.length === 0 ? ["TCP"] : protocols,
    ipFamilies: ipFamilies(wire.ipFamilies),
    ipModes: wire.ipModes.flatMap((mode) => wordOf(IP_MODES, mode) ?? []),
    maxPorts: orUndefined(wire.maxPorts),
    maxNodes: orUndefined(wire.maxNodes),
    maxConcurrentChanges: orUndefined(wire.maxConcurrentChanges) ?? DEFAULT_CONCURRENT_CHANGES,
    // An unknown scope gets the strictest one: one change at a time.
    lockScope: wordOf(LOCK_SCOPES, wire.lockScope || Wire.LockScope.SERVICE) ?? "provider",
  };
}

function routes(wire: Wire.RouteCapabilities): Model.RouteCapabilities {
  return {
    ...wire,
    maxBatchSize: batchSize(wire.maxBatchSize),
    maxPageSize: Math.min(MAX_ITEMS, orUndefined(wire.maxPageSize) ?? DEFAULT_ROUTE_PAGE),
    ipFamilies: ipFamilies(wire.ipFamilies),
  };
}

function volumes(wire: Wire.VolumeCapabilities): Model.VolumeCapabilities {
  return { ...wire, maxBatchSize: batchSize(wire.maxBatchSize) };
}

function limits(wire: Wire.Limits = Wire.Limits.fromPartial({})): Model.Limits {
  return {
    maxConcurrentCalls: Math.max(1, wire.maxConcurrentCalls),
    maxReceiveBytes: orUndefined(Number(wire.maxReceiveBytes)) ?? LEAST_RECEIVE_BYTES,
    maxInlineNodes: orUndefined(wire.maxInlineNodes) ?? DEFAULT_INLINE_NODES,
    softCallDurationMs: within(wire.softCallDuration, [0, MAX_SOFT_CALL_MS], DEFAULT_SOFT_CALL_MS),
    minStatusIntervalMs: within(wire.minStatusInterval, INTERVAL, DEFAULT_STATUS_INTERVAL_MS),
    minResyncIntervalMs: within(wire.minResyncInterval, INTERVAL, DEFAULT_RESYNC_INTERVAL_MS),
    callRates: callRatesFromProto(wire.callRates),
  };
}

function list(wire: Wire.ListCapability): Model.ListCapability {
  return { maxPageSize: batchSize(wire.maxPageSize), consistentSnapshot: wire.consistentSnapshot };
}

function watch(wire: Wire.WatchCapability): Model.WatchCapability {
  return { tokenRetentionMs: within(wire.tokenRetention, [0, MAX_RETENTION_MS], 0) };
}

const INTERVAL = [MIN_INTERVAL_MS, MAX_INTERVAL_MS] as const;

function within(duration: Duration | undefined, [min, max]: readonly [number, number], absentMs: number): number {
  return Math.min(max, Math.max(min, durationMs(duration) ?? absentMs));
}

/** A size within the contract's limit; 0 counts as 1. */
function batchSize(size: number): number {
  return Math.min(MAX_ITEMS, Math.max(1, size));
}

function ipFamilies(wire: readonly WireIpFamily[]): readonly Model.IpFamily[] {
  return wire.length === 0 ? ["IPv4"] : wire.flatMap((family) => ipFamilyFromProto(family) ?? []);
}

const IP_MODES = { Proxy: Wire.IpMode.PROXY, VIP: Wire.IpMode.VIP } as const;
const LOCK_SCOPES = { service: Wire.LockScope.SERVICE, lockKey: Wire.LockScope.LOCK_KEY } as const;

function mapDefined<Wire, Ours>(wire: Wire | undefined, convert: (wire: Wire) => Ours): Ours | undefined {
  return wire === undefined ? undefined : convert(wire);
}

/** In the contract, 0 means unlimited, unknown, or the default. */
function orUndefined(value: number): number | undefined {
  return value === 0 ? undefined : value;
}
