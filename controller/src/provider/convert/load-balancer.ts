import {
  ChangeAction,
  type Condition as WireCondition,
  ConditionStatus,
  type Diagnostic as WireDiagnostic,
  type Operation as WireOperation,
  type PlannedChange as WirePlannedChange,
  Severity,
} from "@cloudwire/proto/cloudprovider/v1/common";
import { IpMode as WireIpMode } from "@cloudwire/proto/cloudprovider/v1/identity";
import {
  type ApplyNodeSetRequest,
  type DeleteLoadBalancerResponse,
  type EnsureLoadBalancerResponse,
  type LoadBalancer as WireLoadBalancer,
  LoadBalancerPhase as WirePhase,
  type LoadBalancerIngress as WireIngress,
  type NodeSelection as WireNodeSelection,
  type ServiceRef as WireServiceRef,
  type WatchLoadBalancersResponse,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import type { LoadBalancerIngress, PortStatus } from "../../api/service.ts";
import type { LoadBalancerHint, LoadBalancerRef, NodeSelection, NodeSetChunk } from "../model/client.ts";
import type {
  Diagnostic,
  LoadBalancer,
  LoadBalancerChange,
  LoadBalancerDeletion,
  LoadBalancerPhase,
  Operation,
  PlannedChange,
  ProviderCondition,
  ServiceRef,
} from "../model/load-balancer.ts";
import { NOTHING_NEW } from "./instance.ts";
import { targetNodeToProto } from "./node.ts";
import { durationMs, protocolFromProto, timeMs } from "./scalars.ts";

/** Limits between which a provider's wish when to be asked again is honored. proto/README.md LB-3. */
const MIN_POLL_MS = 1000;
const MAX_POLL_MS = 60_000;

export function serviceRefToProto(ref: ServiceRef): WireServiceRef {
  return { namespace: ref.namespace, name: ref.name, uid: ref.uid };
}

function serviceRefFromProto(wire: WireServiceRef): ServiceRef {
  return { namespace: wire.namespace, name: wire.name, uid: wire.uid };
}

export function nodeSelectionToProto({ fingerprint, count, source }: NodeSelection): WireNodeSelection {
  return { fingerprint, count, source: selectionSource(source) };
}

function selectionSource(source: NodeSelection["source"]): WireNodeSelection["source"] {
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

export function nodeSetChunkToProto(chunk: NodeSetChunk): Omit<ApplyNodeSetRequest, "context"> {
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

/** The load balancer of that Service; or in one phrase why it cannot be. */
export function loadBalancerOf(service: ServiceRef, wire: WireLoadBalancer): LoadBalancer | string {
  const loadBalancer = loadBalancerFromProto(wire);
  if (loadBalancer === undefined) return "the load balancer names no Service";
  if (loadBalancer.service.uid === service.uid) return loadBalancer;
  return `the load balancer is of Service ${loadBalancer.service.uid}`;
}

/** What came of a change; or in one phrase why the answer cannot be one to it. */
export function loadBalancerChangeFromProto(
  wire: Pick<EnsureLoadBalancerResponse, "loadBalancer" | "diagnostics" | "plannedChanges">,
  service: ServiceRef,
  { validateOnly }: { readonly validateOnly: boolean },
): LoadBalancerChange | string {
  if (wire.loadBalancer === undefined && !validateOnly) return "the answer has no load balancer";
  const loadBalancer = wire.loadBalancer && loadBalancerOf(service, wire.loadBalancer);
  if (typeof loadBalancer === "string") return loadBalancer;
  return {
    loadBalancer,
    diagnostics: wire.diagnostics.map((diagnostic) => diagnosticFromProto(diagnostic)),
    plannedChanges: wire.plannedChanges.map((change) => plannedChangeFromProto(change)),
  };
}

export function loadBalancerDeletionFromProto(wire: DeleteLoadBalancerResponse): LoadBalancerDeletion {
  return {
    done: wire.done,
    operation: wire.operation === undefined ? undefined : operationFromProto(wire.operation),
    remaining: wire.remaining,
    diagnostics: wire.diagnostics.map((diagnostic) => diagnosticFromProto(diagnostic)),
    plannedChanges: wire.plannedChanges.map((change) => plannedChangeFromProto(change)),
  };
}

/** undefined when the answer does not say whose it is: then it can be of nobody here. */
export function loadBalancerFromProto(wire: WireLoadBalancer): LoadBalancer | undefined {
  if (wire.service === undefined || wire.service.uid === "") return undefined;
  return {
    id: wire.id,
    service: serviceRefFromProto(wire.service),
    phase: phaseFromProto(wire.phase),
    ingress: wire.ingress?.items.flatMap((point) => ingressFromProto(point)),
    specFingerprint: wire.specFingerprint,
    nodesFingerprint: wire.nodesFingerprint,
    observedFingerprint: wire.observedFingerprint,
    registeredNodes: wire.registeredNodes,
    conditions: wire.conditions.map((condition) => conditionFromProto(condition)),
    operation: wire.operation === undefined ? undefined : operationFromProto(wire.operation),
    tags: wire.tags,
    lockKey: wire.lockKey,
  };
}

/** One entry of the Service's status as the server will store it, so that comparing finds no difference; none without ip and hostname. */
export function ingressFromProto(wire: WireIngress): readonly LoadBalancerIngress[] {
  const { ip = "", hostname = "" } = wire;
  if (ip === "" && hostname === "") return [];
  const ipMode = ip === "" ? undefined : wire.ipMode === WireIpMode.PROXY ? "Proxy" : "VIP";
  const ports = wire.ports.flatMap<PortStatus>(({ port, protocol: wireProtocol, error }) => {
    const protocol = protocolFromProto(wireProtocol);
    return protocol === undefined ? [] : [{ port, protocol, error: error === "" ? undefined : error }];
  });
  return [{ ip, hostname, ipMode, ports }];
}

export function operationFromProto(wire: WireOperation): Operation {
  const pollAfterMs = durationMs(wire.pollAfter) ?? MIN_POLL_MS;
  return {
    id: wire.id,
    stage: wire.stage,
    progressPercent: wire.progressPercent,
    pollAfterMs: Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, pollAfterMs)),
    message: wire.message,
  };
}

export function conditionFromProto(wire: WireCondition): ProviderCondition {
  return {
    type: wire.type,
    status: conditionStatus(wire.status),
    reason: wire.reason,
    message: wire.message,
    lastTransitionTimeMs: timeMs(wire.lastTransitionTime),
  };
}

export function diagnosticFromProto(wire: WireDiagnostic): Diagnostic {
  const { reason, summary, detail, field, helpUrl } = wire;
  return { severity: severityFromProto(wire.severity), reason, summary, detail, field, helpUrl };
}

export function plannedChangeFromProto(wire: WirePlannedChange): PlannedChange {
  const { resourceType, resourceId, summary } = wire;
  return { action: actionFromProto(wire.action), resourceType, resourceId, summary };
}

function conditionStatus(status: ConditionStatus): ProviderCondition["status"] {
  if (status === ConditionStatus.TRUE) return "True";
  return status === ConditionStatus.FALSE ? "False" : "Unknown";
}

function severityFromProto(severity: Severity): Diagnostic["severity"] {
  if (severity === Severity.INFO) return "info";
  return severity === Severity.ERROR ? "error" : "warning";
}

function actionFromProto(action: ChangeAction): PlannedChange["action"] {
  switch (action) {
    case ChangeAction.CREATE:
      return "create";
    case ChangeAction.UPDATE:
      return "update";
    case ChangeAction.DELETE:
      return "delete";
    case ChangeAction.REPLACE:
      return "replace";
    default:
      return "unknown";
  }
}

function phaseFromProto(phase: WirePhase): LoadBalancerPhase {
  switch (phase) {
    case WirePhase.PROVISIONING:
      return "provisioning";
    case WirePhase.ACTIVE:
      return "active";
    case WirePhase.UPDATING:
      return "updating";
    case WirePhase.DELETING:
      return "deleting";
    case WirePhase.FAILED:
      return "failed";
    default:
      return "unknown";
  }
}

export function loadBalancerHint(event: WatchLoadBalancersResponse["event"]): LoadBalancerHint {
  if (event === undefined) return NOTHING_NEW;
  switch (event.$case) {
    case "upsert": {
      const loadBalancer = loadBalancerFromProto(event.value);
      return loadBalancer === undefined ? NOTHING_NEW : { kind: "upsert", loadBalancer };
    }
    case "gone": {
      const { service } = event.value;
      return service === undefined ? NOTHING_NEW : { kind: "gone", service: serviceRefFromProto(service) };
    }
    case "bookmark":
      return { kind: "bookmark", initialEventsEnd: event.value.initialEventsEnd };
    case "resync":
      return { kind: "resync", message: event.value.message };
  }
  return event satisfies never;
}
