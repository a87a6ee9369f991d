import {
  type Absence,
  AbsenceBasis,
  ChangeAction,
  type ClusterRef,
  type Condition as WireCondition,
  ConditionStatus,
  type Diagnostic as WireDiagnostic,
  type IpFamily as WireIpFamily,
  type NodeAddress as WireNodeAddress,
  type NotOwned as WireNotOwned,
  type Operation,
  type PlannedChange as WirePlannedChange,
  Severity,
} from "@cloudwire/proto/cloudprovider/v1/common";
import { Protocol as WireProtocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import { ipFamilies, nodeAddressTypes, protocols, valueOf, wordOf } from "@cloudwire/proto/words";
import type {
  Cluster,
  Condition,
  Diagnostic,
  IpFamily,
  NodeAddress,
  NodeAddresses,
  NodeAddressType,
  PlannedChange,
  Protocol,
} from "../../definition/common.ts";
import type { Absent, NotOwned, PendingOptions } from "../../results/results.ts";
import { responseText } from "../../results/status.ts";
import { toDuration } from "../../util/clock.ts";

/** A cloud's name of a machine may have spaces; such a name is no address. Contract: LIM-6. */
const hostName = /^[\w.:-]+$/;
const namesMachine: ReadonlySet<string> = new Set(["Hostname", "InternalDNS", "ExternalDNS"]);

/** Addresses as a provider writes them, without duplicates and names that are no host names, in order. */
export const toWireAddresses = (addresses: NodeAddresses | undefined): WireNodeAddress[] => {
  const seen = new Set<string>();
  return listAddresses(addresses).flatMap(({ type, address }) => {
    const key = `${type} ${address}`;
    if (seen.has(key) || (namesMachine.has(type) && !hostName.test(address))) return [];
    seen.add(key);
    return [{ type: nodeAddressTypes[type], address }];
  });
};

const isList = (addresses: NodeAddresses): addresses is readonly NodeAddress[] => Array.isArray(addresses);

const isAddressType = (word: string): word is NodeAddressType => Object.hasOwn(nodeAddressTypes, word);

const listAddresses = (addresses: NodeAddresses | undefined): readonly NodeAddress[] => {
  if (addresses === undefined) return [];
  if (isList(addresses)) return addresses;
  const record = addresses;
  return Object.keys(record)
    .filter(isAddressType)
    .flatMap((type) => [record[type] ?? []].flat().map((address) => ({ type, address })));
};

/** Addresses as a provider reads them; kinds that this SDK does not know are left out. */
export const fromWireAddresses = (addresses: readonly WireNodeAddress[]): readonly NodeAddress[] =>
  addresses.flatMap(({ type, address }) => {
    const name = wordOf(nodeAddressTypes, type);
    return name === undefined ? [] : [{ type: name, address }];
  });

/** The caller's cluster. */
export const fromWireCluster = (cluster: ClusterRef | undefined): Cluster => ({
  id: cluster?.id ?? "",
  ...(cluster?.name ? { name: cluster.name } : {}),
});

export const toWireProtocol = (protocol: Protocol): WireProtocol => protocols[protocol];

/** Undefined for a protocol that this SDK does not know. */
export const fromWireProtocol = (protocol: WireProtocol): Protocol | undefined =>
  protocol === WireProtocol.UNSPECIFIED ? "TCP" : wordOf(protocols, protocol);

export const toWireIpFamily = (family: IpFamily): WireIpFamily => valueOf(ipFamilies, family) ?? ipFamilies.IPv4;

export const fromWireIpFamily = (family: WireIpFamily): IpFamily => wordOf(ipFamilies, family) ?? "IPv4";

const wireBases = {
  TERMINATED: AbsenceBasis.TERMINATED,
  LOOKUP_MISS: AbsenceBasis.LOOKUP_MISS,
  COMPLETE_LIST_MISS: AbsenceBasis.COMPLETE_LIST_MISS,
} as const;

export const toWireAbsence = (absence: Absent, callTime: Date): Absence => ({
  basis: wireBases[absence.basis],
  observeTime: absence.observeTime ?? callTime,
  stronglyConsistent: absence.stronglyConsistent ?? false,
});

/** Longest texts for people, in bytes: max_bytes of `message`, `summary` and `detail`, and of `stage` and `remaining`. */
const maxTextBytes = 1_024;
const maxShortTextBytes = 253;

/** A message of the contract for people. */
export const toWireMessage = (text: string): string => responseText(text, maxTextBytes);

/** What a deletion has left. */
export const toWireRemaining = (text: string): string => responseText(text, maxShortTextBytes);

export const toWireNotOwned = (answer: NotOwned): WireNotOwned => ({
  message: toWireMessage(answer.message ?? ""),
});

const defaultPollAfterMs = 5_000;
const maxPollAfterMs = 60_000;

export const toWireOperation = (work: PendingOptions): Operation => ({
  id: work.operationId ?? "",
  stage: responseText(work.stage ?? "", maxShortTextBytes),
  progressPercent: work.progressPercent,
  pollAfter: toDuration(Math.min(Math.max(work.pollAfterMs ?? defaultPollAfterMs, 1), maxPollAfterMs)),
  startTime: work.startTime,
  expectedEndTime: work.expectedEndTime,
  message: toWireMessage(work.message ?? ""),
});

const wireSeverities = { info: Severity.INFO, warning: Severity.WARNING, error: Severity.ERROR } as const;

export const toWireDiagnostic = (diagnostic: Diagnostic): WireDiagnostic => ({
  severity: wireSeverities[diagnostic.severity ?? "warning"],
  reason: diagnostic.reason,
  summary: toWireMessage(diagnostic.summary),
  detail: toWireMessage(diagnostic.detail ?? ""),
  field: diagnostic.field ?? "",
  helpUrl: diagnostic.helpUrl ?? "",
});

const wireActions = {
  create: ChangeAction.CREATE,
  update: ChangeAction.UPDATE,
  delete: ChangeAction.DELETE,
  replace: ChangeAction.REPLACE,
} as const;

export const toWirePlannedChange = (change: PlannedChange): WirePlannedChange => ({
  action: wireActions[change.action],
  resourceType: change.resourceType,
  resourceId: change.resourceId ?? "",
  summary: toWireMessage(change.summary ?? ""),
});

export const toWireCondition = (condition: Condition): WireCondition => ({
  type: condition.type,
  status: conditionStatus(condition.status),
  reason: condition.reason ?? "",
  message: toWireMessage(condition.message ?? ""),
  lastTransitionTime: condition.lastTransitionTime,
});

const conditionStatus = (status: boolean | undefined) => {
  if (status === undefined) return ConditionStatus.UNSPECIFIED;
  return status ? ConditionStatus.TRUE : ConditionStatus.FALSE;
};
