import type { ObjectKind, ObjectRef } from "./object-ref.ts";
import type { Cause, State } from "./status.ts";

/** The explanation of one object by one replica. Times are RFC 3339 in UTC with milliseconds. Unknown values are absent. */
export interface Explanation {
  readonly object: ObjectRef;
  readonly kind: ObjectKind;
  readonly time: string;
  readonly replica: Replica;
  /** Whether the object is in the replica's cache; false: the rest is its history. */
  readonly exists: boolean;
  readonly state: State;
  /** One sentence. */
  readonly summary: string;
  /** Causes of problems, most important first. */
  readonly causes: readonly Cause[];
  /** Absent: no retry until something changes. */
  readonly nextRetry?: NextRetry;
  readonly desired: readonly DesiredItem[];
  /** Properties of the object, in display order. */
  readonly facts: readonly Fact[];
  /** One for each controller of the object. */
  readonly controllers: readonly ControllerStatus[];
  /** The owner; absent: none, or unknown. */
  readonly provider?: ProviderStatus;
  /** Recent provider calls for the object, alone or in a batch, newest first. About ten. */
  readonly calls: readonly CallRecord[];
  /** Newest first. A few dozen entries. */
  readonly timeline: readonly TimelineEntry[];
}

export interface Replica {
  readonly identity: string;
  /** A standby has the objects, but not the reconcile state. */
  readonly isLeader: boolean;
  /** The leader, if it is another replica and known. */
  readonly leaderIdentity?: string;
  readonly version: string;
}

export interface NextRetry {
  readonly time: string;
  readonly inMs: number;
  /** `back-off after 3 failures`. */
  readonly message: string;
}

export interface DesiredItem {
  /** `load balancer with ports 80/TCP, 443/TCP`, `taint uninitialized removed`. */
  readonly description: string;
  readonly state: "met" | "pending" | "unmet";
  /** The observed state. */
  readonly message?: string;
}

export interface Fact {
  readonly name: string;
  readonly value: string;
}

/** State of the object's key in one controller. */
export interface ControllerStatus {
  readonly controller: string;
  readonly key: string;
  readonly queue: QueuePosition;
  /** Consecutive. */
  readonly failures: number;
  /** The last finished reconcile. */
  readonly last?: ReconcileResult;
}

export type QueuePosition =
  | { readonly kind: "idle" }
  /** At most `ahead` keys of the same provider precede it. */
  | { readonly kind: "queued"; readonly priority: "high" | "low"; readonly ahead?: number }
  | { readonly kind: "delayed"; readonly dueTime: string; readonly inMs: number }
  | { readonly kind: "processing"; readonly processingMs: number }
  | { readonly kind: "notRunning"; readonly message: string };

export interface ReconcileResult {
  readonly outcome: string;
  readonly endTime: string;
  readonly durationMs: number;
  /** Also in the log, in traces and in the audit log. */
  readonly reconcileID: string;
  readonly error?: { readonly code?: string; readonly message: string };
}

/** The part of a provider's status that concerns its objects. */
export interface ProviderStatus {
  readonly name: string;
  readonly connection: string;
  readonly ready: boolean;
  /** Why the provider is not ready. */
  readonly reasons: readonly string[];
  /** Why reports of absent instances are ignored now. */
  readonly absenceIgnored?: string;
  /** Quota classes that the cloud throttles now. */
  readonly throttled: readonly { readonly quotaClass: string; readonly untilTime: string }[];
}

/** One provider call, without its request. */
export interface CallRecord {
  readonly time: string;
  readonly provider?: string;
  readonly method: string;
  readonly durationMs: number;
  /** OK, or the canonical gRPC code. */
  readonly code: string;
  /** Error reason of the provider. */
  readonly reason?: string;
  readonly message?: string;
  readonly cloudRequestIds: readonly string[];
  /** Number of objects in the call. */
  readonly objectCount: number;
}

export interface TimelineEntry {
  readonly time: string;
  readonly kind: "reconcile" | "call" | "event" | "condition" | "object";
  /** Controller or provider; absent: the cluster. */
  readonly source?: string;
  readonly reason: string;
  readonly message: string;
  readonly isWarning: boolean;
  /** Consecutive repetitions, the last at `time`; absent: 1. */
  readonly count?: number;
}
