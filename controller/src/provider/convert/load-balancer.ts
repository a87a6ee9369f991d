import * as Common from "@cloudwire/proto/cloudprovider/v1/common";
import { IpMode as WireIpMode } from "@cloudwire/proto/cloudprovider/v1/identity";
import * as Wire from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { wordOf } from "@cloudwire/proto/words";
import type { LoadBalancerIngress, PortStatus } from "../../api/service.ts";
import type { LoadBalancerHint, LoadBalancerRef, NodeSelection, NodeSetChunk } from "../model/client.ts";
import type {
  Diagnostic,
  LoadBalancer,
  LoadBalancerChange,
  LoadBalancerDeletion,
  Operation,
  PlannedChange,
  ProviderCondition,
  ServiceRef,
} from "../model/load-balancer.ts";
import { NOTHING_NEW } from "./instance.ts";
import { targetNodeToProto } from "./node.ts";
import { durationMs, protocolFromProto, timeMs } from "./scalars.ts";

/** Bounds of a provider's poll interval. proto/README.md LB-3. */
const MIN_POLL_MS = 1000;
const MAX_POLL_MS = 60_000;

export function serviceRefToProto({ namespace, name, uid }: ServiceRef): Wire.ServiceRef {
  return { namespace, name, uid };
}

export function nodeSelectionToProto({ fingerprint, count, source }: NodeSelection): Wire.NodeSelection {
  return { fingerprint, count, source: selectionSource(source) };
}

function selectionSource(source: NodeSelection["source"]): Wire.NodeSelection["source"] {
  switch (source.kind) {
    case "inline":
      return { $case: "inline", value: { nodes: source.nodes.map((node) => targetNodeToProto(node)) } };
    case "nodeSet":
      return { $case: "nodeSetId", value: source.id };
    case "unchanged":
      return { $case: "unchanged", value: {} };
  }
  return source satisfies never;
}

export function nodeSetChunkToProto(chunk: NodeSetChunk): Omit<Wire.ApplyNodeSetRequest, "context"> {
  const { upserts, removedProviderIds, ...rest } = chunk;
  return {
    ...rest,
    upserts: upserts.map((node) => targetNodeToProto(node)),
    removedProviderIds: [...removedProviderIds],
  };
}

export function loadBalancerRefToProto(ref: LoadBalancerRef) {
  const { service, class: loadBalancerClass, annotations, operationId = "" } = ref;
  return {
    service: serviceRefToProto(service),
    ...(loadBalancerClass === undefined ? {} : { class: loadBalancerClass }),
    annotations: { ...annotations },
    operationId,
  };
}

/** The load balancer of that Service, or in one phrase why it is another one's. */
export function loadBalancerOf(service: ServiceRef, wire: Wire.LoadBalancer): LoadBalancer | string {
  const loadBalancer = loadBalancerFromProto(wire);
  if (loadBalancer === undefined) return "the load balancer has no Service";
  if (loadBalancer.service.uid === service.uid) return loadBalancer;
  return `the load balancer belongs to Service ${loadBalancer.service.uid}`;
}

/** The outcome of a change, or in one phrase why the response is invalid. */
export function loadBalancerChangeFromProto(
  wire: Pick<Wire.EnsureLoadBalancerResponse, "loadBalancer" | "diagnostics" | "plannedChanges">,
  service: ServiceRef,
  { validateOnly }: { readonly validateOnly: boolean },
): LoadBalancerChange | string {
  if (wire.loadBalancer === undefined && !validateOnly) return "the response has no load balancer";
  const loadBalancer = wire.loadBalancer && loadBalancerOf(service, wire.loadBalancer);
  if (typeof loadBalancer === "string") return loadBalancer;
  return {
    loadBalancer,
    diagnostics: wire.diagnostics.map((diagnostic) => diagnosticFromProto(diagnostic)),
    plannedChanges: wire.plannedChanges.map((change) => plannedChangeFromProto(change)),
  };
}

export function loadBalancerDeletionFromProto(wire: Wire.DeleteLoadBalancerResponse): LoadBalancerDeletion {
  return {
    done: wire.done,
    operation: wire.operation === undefined ? undefined : operationFromProto(wire.operation),
    remaining: wire.remaining,
    diagnostics: wire.diagnostics.map((diagnostic) => diagnosticFromProto(diagnostic)),
    plannedChanges: wire.plannedChanges.map((change) => plannedChangeFromProto(change)),
  };
}

/** undefined without a Service: it cannot belong to this cluster. */
export function loadBalancerFromProto(wire: Wire.LoadBalancer): LoadBalancer | undefined {
  if (wire.service === undefined || wire.service.uid === "") return undefined;
  return {
    id: wire.id,
    service: serviceRefToProto(wire.service),
    phase: wordOf(PHASES, wire.phase) ?? "unknown",
    ingress: wire.ingress?.items.flatMap((point) => ingressFromProto(point)),
    specFingerprint: wire.specFingerprint,
    // Whatever the provider stores: nodes that are not all targets are not acknowledged.
    nodesFingerprint: wire.unregisteredNodes.length === 0 ? wire.nodesFingerprint : "",
    observedFingerprint: wire.observedFingerprint,
    registeredNodes: wire.registeredNodes,
    conditions: wire.conditions.map((condition) => conditionFromProto(condition)),
    operation: wire.operation === undefined ? undefined : operationFromProto(wire.operation),
    tags: wire.tags,
    lockKey: wire.lockKey,
    unregisteredNodes: wire.unregisteredNodes.map(({ name, reason, message }) => ({ name, reason, message })),
    previousObservedFingerprint: wire.previousObservedFingerprint,
  };
}

/** One entry of the Service's status with the API server's defaults, so that comparisons find no difference; none without IP and hostname. */
export function ingressFromProto(wire: Wire.LoadBalancerIngress): readonly LoadBalancerIngress[] {
  const { ip = "", hostname = "" } = wire;
  if (ip === "" && hostname === "") return [];
  const ipMode = ip === "" ? undefined : wire.ipMode === WireIpMode.PROXY ? "Proxy" : "VIP";
  const ports = wire.ports.flatMap<PortStatus>(({ port, protocol: wireProtocol, error }) => {
    const protocol = protocolFromProto(wireProtocol);
    return protocol === undefined ? [] : [{ port, protocol, error: error === "" ? undefined : error }];
  });
  return [{ ip, hostname, ipMode, ports }];
}

export function operationFromProto(wire: Common.Operation): Operation {
  const pollAfterMs = durationMs(wire.pollAfter) ?? MIN_POLL_MS;
  return {
    id: wire.id,
    stage: wire.stage,
    progressPercent: wire.progressPercent,
    pollAfterMs: Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, pollAfterMs)),
    message: wire.message,
  };
}

export function conditionFromProto(wire: Common.Condition): ProviderCondition {
  const { type, reason, message, lastTransitionTime } = wire;
  const status = wordOf(CONDITION_STATUSES, wire.status) ?? "Unknown";
  return { type, status, reason, message, lastTransitionTimeMs: timeMs(lastTransitionTime) };
}

export function diagnosticFromProto(wire: Common.Diagnostic): Diagnostic {
  const { reason, summary, detail, field, helpUrl } = wire;
  return { severity: wordOf(SEVERITIES, wire.severity) ?? "warning", reason, summary, detail, field, helpUrl };
}

export function plannedChangeFromProto(wire: Common.PlannedChange): PlannedChange {
  const { resourceType, resourceId, summary } = wire;
  return { action: wordOf(ACTIONS, wire.action) ?? "unknown", resourceType, resourceId, summary };
}

const CONDITION_STATUSES = { True: Common.ConditionStatus.TRUE, False: Common.ConditionStatus.FALSE } as const;
const SEVERITIES = { info: Common.Severity.INFO, error: Common.Severity.ERROR } as const;

const ACTIONS = {
  create: Common.ChangeAction.CREATE,
  update: Common.ChangeAction.UPDATE,
  delete: Common.ChangeAction.DELETE,
  replace: Common.ChangeAction.REPLACE,
} as const;

const PHASES = {
  provisioning: Wire.LoadBalancerPhase.PROVISIONING,
  active: Wire.LoadBalancerPhase.ACTIVE,
  updating: Wire.LoadBalancerPhase.UPDATING,
  deleting: Wire.LoadBalancerPhase.DELETING,
  failed: Wire.LoadBalancerPhase.FAILED,
} as const;

export function loadBalancerHint(event: Wire.WatchLoadBalancersResponse["event"]): LoadBalancerHint {
  if (event === undefined) return NOTHING_NEW;
  switch (event.$case) {
    case "upsert": {
      const loadBalancer = loadBalancerFromProto(event.value);
      return loadBalancer === undefined ? NOTHING_NEW : { kind: "upsert", loadBalancer };
    }
    case "gone": {
      const { service } = event.value;
      return service === undefined ? NOTHING_NEW : { kind: "gone", service: serviceRefToProto(service) };
    }
    case "bookmark":
      return { kind: "bookmark", initialEventsEnd: event.value.initialEventsEnd };
    case "resync":
      return { kind: "resync", message: event.value.message };
  }
  return event satisfies never;
}
