import type { Service } from "../../../api/service.ts";
import { isOver } from "../plan/drift.ts";
import { needsUpdate } from "../predicates.ts";
import {
  acknowledgedOf,
  type DeleteOperation,
  type Drift,
  type DriftHistory,
  type CurrentProvider,
  hintOf,
  currentProviderOf,
  NO_DRIFT,
  openRequestID,
  type Present,
  type PreviousLoadBalancer,
  type Rejection,
  type ServiceRecord,
  type State,
} from "./record.ts";

/** Something that this process has read, done, or received from a provider. Times are monotonic. */
export type RecordEvent =
  | { readonly kind: "serviceSeen"; readonly service: Service }
  /** The object that was removed, last seen as `deleted`, exists again with its UID: restored from a backup. */
  | { readonly kind: "serviceRestored"; readonly deleted: Service }
  /** The cluster has removed this object. */
  | { readonly kind: "serviceDeleted"; readonly last: Service }
  /** The cluster has no Service of this name. */
  | { readonly kind: "serviceAbsent" }
  | { readonly kind: "notOwned" }
  | { readonly kind: "owned"; readonly nowMs: number }
  | {
      readonly kind: "ownerChanged";
      readonly provider: string;
      /** The load balancer of the earlier owner is not the one of the new owner. */
      readonly leavesPrevious: boolean;
      readonly nowMs: number;
    }
  /** The cloud matches the desired state. */
  | { readonly kind: "read"; readonly present: Present }
  | ({ readonly kind: "changeRequested" } & Request)
  | { readonly kind: "changeAccepted" | "changeCompleted"; readonly present: Present }
  | { readonly kind: "changeFailed" | "notFound"; readonly nowMs: number }
  | {
      readonly kind: "changeRejected";
      readonly rejection: Rejection;
      /** The load balancer that serves traffic nevertheless. */
      readonly inForce: Present | undefined;
      readonly nowMs: number;
    }
  | { readonly kind: "changeDeclined"; readonly service: Service; readonly bootID: string }
  | ({ readonly kind: "deleteRequested" } & Request)
  | { readonly kind: "deleteAccepted"; readonly operation: DeleteOperation }
  | { readonly kind: "deleted" }
  /** The Service is gone, and its protected load balancer is retained. */
  | { readonly kind: "retained" }
  | ({ readonly kind: "previousFound" } & PreviousLoadBalancer)
  /** The provider has no other load balancer of the Service than the present one. */
  | { readonly kind: "previousCleared"; readonly provider: string }
  | { readonly kind: "suspected"; readonly delayMs: number }
  | { readonly kind: "inspected"; readonly inspection: Inspection; readonly nowMs: number; readonly periodMs: number }
  | { readonly kind: "repaired"; readonly nowMs: number }
  /** The controller ensured the load balancer for another reason: earlier drift does not count. */
  | { readonly kind: "driftSuperseded" };

interface Request {
  readonly service: Service;
  readonly provider: string;
  readonly intent: string;
  /** Ignored while a request with the same intent has no response. */
  readonly requestID: string;
}

/** Result of a read that a sweep requested. */
export type Inspection =
  | { readonly kind: "steady" }
  | { readonly kind: "left"; readonly drift: Drift; readonly decision: "later" | "suspended" };

/** The Service is reconciled after this time. */
export interface Wake {
  readonly kind: "wake";
  readonly delayMs: number;
}

export interface Transition {
  /** undefined: nothing to remember. */
  readonly record: ServiceRecord | undefined;
  readonly effects: readonly Wake[];
}

export function transition(record: ServiceRecord | undefined, event: RecordEvent): Transition {
  return { record: next(record, event), effects: effectsOf(record, event) };
}

/** The record after all events, without their effects. */
export function fold(record: ServiceRecord | undefined, events: readonly RecordEvent[]): ServiceRecord | undefined {
  return events.reduce<ServiceRecord | undefined>(next, record);
}

function effectsOf(record: ServiceRecord | undefined, event: RecordEvent): readonly Wake[] {
  if (record?.state.kind !== "active") return [];
  if (event.kind === "suspected") return [{ kind: "wake", delayMs: event.delayMs }];
  // In any other state the Service is reconciled anyway.
  return event.kind === "previousFound" ? [{ kind: "wake", delayMs: 0 }] : [];
}

function next(record: ServiceRecord | undefined, event: RecordEvent): ServiceRecord | undefined {
  switch (event.kind) {
    case "serviceSeen":
      return seen(record, event.service);
    case "serviceDeleted":
      return deletedFromCluster(record, event.last);
    case "serviceAbsent":
      return currentProviderOf(record) === undefined ? undefined : record && { ...record, isDeleted: true };
    case "changeRequested":
    case "deleteRequested":
      return requested(record ?? begin(event.service), event);
    default:
      return record && known(record, event);
  }
}

type OfKnown = Exclude<
  RecordEvent,
  { readonly kind: "serviceSeen" | "serviceDeleted" | "serviceAbsent" | "changeRequested" | "deleteRequested" }
>;

function known(record: ServiceRecord, event: OfKnown): ServiceRecord | undefined {
  switch (event.kind) {
    case "serviceRestored":
      // If it was removed again in the meantime, it was last seen as another object.
      return record.isDeleted && record.lastSeen === event.deleted ? { ...record, isDeleted: false } : record;
    case "notOwned":
      return currentProviderOf(record) === undefined ? { ...record, state: { kind: "foreign" } } : record;
    case "owned":
      return record.state.kind === "foreign" ? { ...record, state: unknown(undefined, event.nowMs) } : record;
    case "ownerChanged":
    case "previousFound":
    case "previousCleared":
      return withPrevious(record, event);
    case "suspected":
    case "inspected":
    case "repaired":
    case "driftSuperseded":
      return { ...record, drift: driftAfter(record, event) };
    default:
      return answered(record, event);
  }
}

type OwnerEvent = Extract<RecordEvent, { readonly kind: "ownerChanged" | "previousFound" | "previousCleared" }>;
type DriftEvent = Extract<RecordEvent, { readonly kind: "suspected" | "inspected" | "repaired" | "driftSuperseded" }>;

function answered(
  record: ServiceRecord,
  event: Exclude<OfKnown, OwnerEvent | DriftEvent | { readonly kind: "serviceRestored" | "notOwned" | "owned" }>,
): ServiceRecord | undefined {
  switch (event.kind) {
    case "read":
    case "changeAccepted":
    case "changeCompleted":
      return acknowledge(record, event.present);
    case "changeFailed":
    case "notFound":
      return unknownAgain(record, event.nowMs);
    case "changeRejected": {
      const { rejection, inForce, nowMs } = event;
      const kept = inForce === undefined ? unknownAgain(record, nowMs) : acknowledge(record, inForce);
      return { ...kept, rejection };
    }
    case "changeDeclined": {
      const { service, bootID } = event;
      return { ...record, state: { kind: "declined", service, bootID }, rejection: undefined };
    }
    case "deleteAccepted":
      return deletionAccepted(record, event.operation);
    case "deleted":
      return record.isDeleted ? undefined : { ...record, state: { kind: "gone" }, rejection: undefined };
    case "retained":
      return undefined;
    default:
      return event satisfies never;
  }
}

function begin(service: Service): ServiceRecord {
  return {
    uid: service.metadata.uid,
    lastSeen: service,
    isDeleted: false,
    // Any list of this process is newer than the requests of an earlier process.
    state: unknown(undefined, Number.NEGATIVE_INFINITY),
    previous: [],
    cleared: new Set(),
    rejection: undefined,
    drift: NO_DRIFT,
  };
}

function unknown(current: CurrentProvider | undefined, sinceMs: number): State {
  return { kind: "unknown", current, sinceMs };
}

function seen(record: ServiceRecord | undefined, service: Service): ServiceRecord {
  const isAnother = record?.uid !== service.metadata.uid;
  if (record === undefined || (isAnother && currentProviderOf(record) === undefined)) return begin(service);
  if (isAnother) return { ...record, isDeleted: true };
  // A stale cache may still have the deleted object.
  if (record.isDeleted || record.lastSeen === service) return record;
  const { rejection } = record;
  const isVoid = rejection !== undefined && needsUpdate(rejection.service, service);
  return { ...record, lastSeen: service, rejection: isVoid ? undefined : rejection };
}

/** Kept until the next reconcile, because a running one may still learn something. */
function deletedFromCluster(record: ServiceRecord | undefined, last: Service): ServiceRecord {
  if (record?.uid === last.metadata.uid) return { ...record, lastSeen: last, isDeleted: true };
  // A Service that came and went does not replace the record of an earlier one that still has a load balancer.
  return record !== undefined && currentProviderOf(record) !== undefined ? record : { ...begin(last), isDeleted: true };
}

function requested(
  record: ServiceRecord,
  event: Extract<RecordEvent, { readonly kind: "changeRequested" | "deleteRequested" }>,
): ServiceRecord {
  const { service, provider, intent } = event;
  const { state } = record;
  const open = openRequestID(record, intent);
  const requestID = open ?? event.requestID;
  const rest = without(provider, record);
  if (event.kind === "deleteRequested") {
    const operation = state.kind === "deleting" ? state.progress.operation : undefined;
    const progress = { kind: "requested", intent, requestID, operation } as const;
    const sent = currentProviderOf(record)?.sent ?? service;
    return { ...rest, state: { kind: "deleting", provider, sent, progress, hint: hintOf(record) } };
  }
  const known = acknowledgedOf(record);
  const operation = state.kind === "changing" ? state.progress.operation : undefined;
  const progress = { kind: "requested", intent, requestID, operation } as const;
  const sent = open !== undefined && state.kind === "changing" ? state.sent : service;
  const hint = known === undefined ? hintOf(record) : undefined;
  return { ...rest, state: { kind: "changing", provider, sent, progress, acknowledged: known, hint } };
}

function without(provider: string, record: ServiceRecord): ServiceRecord {
  const previous = record.previous.filter((one) => one.provider !== provider);
  const cleared = new Set([...record.cleared].filter((name) => name !== provider));
  return { ...record, previous, cleared };
}

function acknowledge(record: ServiceRecord, { operation, ...acknowledged }: Present): ServiceRecord {
  const { provider, service: sent } = acknowledged;
  const rest = without(provider, record);
  if (operation === undefined) return { ...rest, state: { kind: "active", acknowledged } };
  const progress = { kind: "accepted", operation } as const;
  return { ...rest, state: { kind: "changing", provider, sent, progress, acknowledged, hint: undefined } };
}

/** Only the current provider stays known: the load balancer is read again, or deleted. */
function unknownAgain(record: ServiceRecord, nowMs: number): ServiceRecord {
  const { state } = record;
  const current =
    state.kind === "changing" ? { provider: state.provider, sent: state.sent } : currentProviderOf(record);
  return { ...record, state: unknown(current, nowMs), rejection: undefined };
}

function deletionAccepted(record: ServiceRecord, operation: DeleteOperation): ServiceRecord {
  const { state } = record;
  if (state.kind !== "deleting") return record;
  return { ...record, state: { ...state, progress: { kind: "accepted", operation } } };
}

function withPrevious(record: ServiceRecord, event: OwnerEvent): ServiceRecord {
  const { provider } = event;
  const current = currentProviderOf(record);
  switch (event.kind) {
    case "previousFound": {
      if (current?.provider === provider) return record;
      const rest = without(provider, record);
      return { ...rest, previous: [...rest.previous, { provider, loadBalancerID: event.loadBalancerID }] };
    }
    case "previousCleared":
      if (current?.provider === provider) return record;
      return { ...without(provider, record), cleared: new Set(record.cleared).add(provider) };
    case "ownerChanged": {
      if (current === undefined || current.provider === provider) return record;
      const rest = without(provider, without(current.provider, record));
      const left = { provider: current.provider, loadBalancerID: hintOf(record)?.loadBalancerID };
      const previous = event.leavesPrevious ? [...rest.previous, left] : rest.previous;
      return { ...rest, state: unknown({ provider, sent: current.sent }, event.nowMs), previous, rejection: undefined };
    }
    default:
      return event satisfies never;
  }
}

function driftAfter({ state, drift }: ServiceRecord, event: DriftEvent): DriftHistory {
  switch (event.kind) {
    case "suspected":
      // A change in progress is compared with the cloud when it ends.
      return state.kind === "active" ? { ...drift, suspected: true } : drift;
    case "inspected": {
      const { inspection, nowMs, periodMs } = event;
      if (inspection.kind === "left") {
        return {
          ...drift,
          suspected: false,
          suspended: inspection.decision === "suspended" ? inspection.drift : drift.suspended,
        };
      }
      const isPast = drift.repairs !== undefined && isOver(drift.repairs, nowMs, periodMs);
      return { ...NO_DRIFT, repairs: isPast ? undefined : drift.repairs };
    }
    case "repaired":
      return { ...NO_DRIFT, repairs: { count: (drift.repairs?.count ?? 0) + 1, lastMs: event.nowMs } };
    case "driftSuperseded":
      return NO_DRIFT;
    default:
      return event satisfies never;
  }
}
