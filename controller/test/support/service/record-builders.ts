import {
  type Acknowledged,
  NO_DRIFT,
  type Operation,
  type Present,
  type ServiceRecord,
  type State,
} from "../../../src/controllers/service/record/record.ts";
import type { RecordEvent } from "../../../src/controllers/service/record/transition.ts";
import { service } from "../builders.ts";
import { desired } from "./service-plan-builders.ts";

/** Seen first, asked for, acknowledged: the same Service as its user changed it. */
export const first = service("web");
export const asked = service("web", { metadata: { annotations: { size: "2" } } });
export const made = service("web", { metadata: { annotations: { size: "1" } } });
/** Another Service of the same name. */
export const other = service("web", { metadata: { uid: "uid-other" } });

export const acknowledged: Acknowledged = {
  service: made,
  provider: "acme",
  loadBalancerID: "lb-1",
  spec: desired().spec,
  specFingerprint: "spec-1",
  nodesFingerprint: "nodes-1",
  unregistered: undefined,
  baseline: { kind: "verified", fingerprint: "" },
  lockKey: "lock-1",
  ingress: undefined,
};
export const hint = { loadBalancerID: "lb-1", lockKey: "lock-1", spec: desired().spec };
export const operation: Operation = { id: "op-1", purpose: "ensure", pollAfterMs: 3000 };
export const present: Present = { ...acknowledged, operation: undefined };
export const pending: Present = { ...acknowledged, operation };

const requested = { kind: "requested", intent: "i-1", requestID: "r-1", operation: undefined } as const;
const accepted = { kind: "accepted", operation } as const;
const current = { provider: "acme", sent: asked };

/** One of each, by name; "none" is no record. */
export const STATES = {
  unknown: { kind: "unknown", current: undefined, sinceMs: Number.NEGATIVE_INFINITY },
  "unknown, held": { kind: "unknown", current, sinceMs: 7 },
  foreign: { kind: "foreign" },
  declined: { kind: "declined", service: asked, bootID: "boot-1" },
  requested: { kind: "changing", ...current, progress: requested, acknowledged: undefined, hint: undefined },
  accepted: { kind: "changing", ...current, progress: accepted, acknowledged, hint: undefined },
  active: { kind: "active", acknowledged },
  deleting: { kind: "deleting", ...current, progress: requested, hint },
  gone: { kind: "gone" },
} as const satisfies Readonly<Record<string, State>>;
export type StateName = keyof typeof STATES;
export const STATE_NAMES = [
  "unknown",
  "unknown, held",
  "foreign",
  "declined",
  "requested",
  "accepted",
  "active",
  "deleting",
  "gone",
] as const satisfies readonly StateName[];

export function record(state: State, parts: Partial<ServiceRecord> = {}): ServiceRecord {
  return {
    uid: "uid-default-web",
    lastSeen: first,
    isDeleted: false,
    state,
    previous: [],
    cleared: new Set(),
    rejection: undefined,
    drift: NO_DRIFT,
    ...parts,
  };
}

const request = { service: asked, provider: "acme", intent: "i-2", requestID: "r-2" };
export const drift = { kind: "changed", what: "it was changed" } as const;
export const rejection = { service: asked, bootID: "boot-1", message: "no", untilMs: 100 };

/** One of each kind, and of the forms that lead elsewhere. */
export const EVENTS = {
  serviceSeen: { kind: "serviceSeen", service: asked },
  "serviceSeen, another": { kind: "serviceSeen", service: other },
  serviceRestored: { kind: "serviceRestored", deleted: asked },
  serviceDeleted: { kind: "serviceDeleted", last: asked },
  serviceAbsent: { kind: "serviceAbsent" },
  notOwned: { kind: "notOwned" },
  owned: { kind: "owned", nowMs: 9 },
  ownerChanged: { kind: "ownerChanged", provider: "next", leavesPrevious: true, nowMs: 9 },
  read: { kind: "read", present },
  changeRequested: { kind: "changeRequested", ...request },
  changeAccepted: { kind: "changeAccepted", present: pending },
  changeCompleted: { kind: "changeCompleted", present },
  changeFailed: { kind: "changeFailed", nowMs: 9 },
  notFound: { kind: "notFound", nowMs: 9 },
  changeRejected: { kind: "changeRejected", rejection, inForce: undefined, nowMs: 9 },
  "changeRejected, another serves": { kind: "changeRejected", rejection, inForce: present, nowMs: 9 },
  changeDeclined: { kind: "changeDeclined", service: asked, bootID: "boot-1" },
  deleteRequested: { kind: "deleteRequested", ...request },
  deleteAccepted: { kind: "deleteAccepted", operation: { id: "op-2" } },
  deleted: { kind: "deleted" },
  retained: { kind: "retained" },
  previousFound: { kind: "previousFound", provider: "old", loadBalancerID: "lb-0" },
  previousCleared: { kind: "previousCleared", provider: "old" },
  suspected: { kind: "suspected", delayMs: 5 },
  inspected: { kind: "inspected", inspection: { kind: "steady" }, nowMs: 9, periodMs: 0 },
  repaired: { kind: "repaired", nowMs: 9 },
  driftSuperseded: { kind: "driftSuperseded" },
} as const satisfies Readonly<Record<string, RecordEvent>>;
export type EventName = keyof typeof EVENTS;
