import type { ObjectKind, ObjectRef } from "./object-ref.ts";
import type { Cause, State } from "./status.ts";

/** Everything that one replica knows of one object. Times are RFC 3339 in UTC with milliseconds; what is not known is absent. */
export interface Explanation {
  readonly object: ObjectRef;
  readonly kind: ObjectKind;
  /** When it was made. */
  readonly time: string;
  /** Who says so. */
  readonly replica: Replica;
  /** Whether the object is in this replica's cache; false: what is left to say is about the past. */
  readonly exists: boolean;
  readonly state: State;
  /** One sentence: how it stands. */
  readonly summary: string;
  /** What stands in the way, what matters most first; none: nothing does. */
  readonly causes: readonly Cause[];
  /** When it is tried next; absent: not before something changes. */
  readonly nextRetry?: NextRetry;
  /** What is wished of it, and how far that is. */
  readonly desired: readonly DesiredItem[];
  /** Of the object itself: provider id, class, generation. In the order in which they are to be shown. */
  readonly facts: readonly Fact[];
  /** One for each controller that works on it. */
  readonly controllers: readonly ControllerStatus[];
  /** Whose it is; absent: nobody's, or it cannot be told. */
  readonly provider?: ProviderStatus;
  /** Last calls that were made for it alone or together with others, newest first; some ten. */
  readonly calls: readonly CallRecord[];
  /** What happened to it as far as is remembered, newest first; some dozens. */
  readonly timeline: readonly TimelineEntry[];
}

export interface Replica {
  readonly identity: string;
  /** A replica that does not lead knows objects, not what is done about them. */
  readonly isLeader: boolean;
  /** Who leads, where somebody else does and it is known. */
  readonly leaderIdentity?: string;
  readonly version: string;
}

export interface NextRetry {
  readonly time: string;
  readonly inMs: number;
  /** What is waited for: `back-off after 3 failures`. */
  readonly message: string;
}

export interface DesiredItem {
  /** `load balancer with ports 80/TCP, 443/TCP`, `taint uninitialized lifted`. */
  readonly description: string;
  readonly state: "met" | "pending" | "unmet";
  /** What is there instead. */
  readonly message?: string;
}

export interface Fact {
  readonly name: string;
  readonly value: string;
}

/** Where the key of the object is in one controller. */
export interface ControllerStatus {
  readonly controller: string;
  readonly key: string;
  readonly queue: QueuePosition;
  /** In a row. */
  readonly failures: number;
  /** The last one that ended, where it is still remembered. */
  readonly last?: ReconcileResult;
}

export type QueuePosition =
  /** Nothing to do until something changes. */
  | { readonly kind: "idle" }
  /** In line; `ahead` of it in its lane at most. */
  | { readonly kind: "queued"; readonly priority: "high" | "low"; readonly ahead?: number }
  | { readonly kind: "delayed"; readonly dueTime: string; readonly inMs: number }
  | { readonly kind: "processing"; readonly processingMs: number }
  /** The controller does not run here. */
  | { readonly kind: "notRunning"; readonly message: string };

export interface ReconcileResult {
  readonly outcome: string;
  readonly endTime: string;
  readonly durationMs: number;
  /** In the lines of the log, in traces, and in the audit log. */
  readonly reconcileID: string;
  readonly error?: { readonly code?: string; readonly message: string };
}

/** As much of a provider as matters for one of its objects. */
export interface ProviderStatus {
  readonly name: string;
  readonly connection: string;
  readonly ready: boolean;
  /** Why it is not. */
  readonly reasons: readonly string[];
  /** Why its word that a machine is gone is not taken now. */
  readonly absenceIgnored?: string;
  /** Limits that hold calls back at this moment. */
  readonly throttled: readonly { readonly quotaClass: string; readonly untilTime: string }[];
}

/** One call to a provider. Holds no fields of requests. */
export interface CallRecord {
  readonly time: string;
  /** Whom it was made to. */
  readonly provider?: string;
  readonly method: string;
  readonly durationMs: number;
  /** OK, or the canonical gRPC code. */
  readonly code: string;
  /** The provider's reason for an error. */
  readonly reason?: string;
  readonly message?: string;
  /** Of the cloud, as the provider passed them on. */
  readonly cloudRequestIds: readonly string[];
  /** How many objects it was made for. */
  readonly objectCount: number;
}

export interface TimelineEntry {
  readonly time: string;
  readonly kind: "reconcile" | "call" | "event" | "condition" | "object";
  /** Of a controller or of a provider; absent: of the cluster. */
  readonly source?: string;
  readonly reason: string;
  readonly message: string;
  readonly isWarning: boolean;
  /** How often it happened in a row, the last time at `at`; absent: once. */
  readonly count?: number;
}
