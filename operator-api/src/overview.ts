import type { Replica } from "./explanation.ts";
import type { ObjectKind, ObjectRef } from "./object-ref.ts";
import type { Cause, State } from "./status.ts";

/** The overall status. Small for any cluster size. */
export interface Overview {
  readonly time: string;
  readonly cluster: string;
  readonly replica: Replica;
  /** Some part of the controller is in observe mode (--mode). */
  readonly observing: boolean;
  readonly counts: Readonly<Record<ObjectKind, Readonly<Record<State, number>>>>;
  readonly controllers: readonly ControllerSummary[];
  readonly providers: readonly ProviderSummary[];
  /** Most important first. */
  readonly alarms: readonly Alarm[];
}

export interface ControllerSummary {
  readonly name: string;
  readonly state: string;
  /** Numbers of keys. */
  readonly queued: number;
  readonly processing: number;
  readonly delayed: number;
  readonly failing: number;
}

export interface ProviderSummary {
  readonly name: string;
  readonly address: string;
  readonly connection: string;
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly version?: string;
  /** Since the start of the replica. */
  readonly calls: number;
  readonly failedCalls: number;
  readonly inFlight: number;
  readonly budgets: readonly CallBudgetStatus[];
  /** Absent: the replica is a standby, which does not know it. */
  readonly deletionCircuitBreaker?: DeletionCircuitBreaker;
}

export interface CallBudgetStatus {
  readonly quotaClass: string;
  /** Absent: no limit. */
  readonly cloudCallsPerSecond?: number;
  readonly tokens?: number;
  readonly queuedCalls: number;
  readonly throttledUntilTime?: string;
}

export interface DeletionCircuitBreaker {
  /** No Node of the provider is deleted without approval. */
  readonly open: boolean;
  /** Nodes whose instance the provider reports as deleted. */
  readonly absentNodes: number;
  readonly message?: string;
}

export interface Alarm extends Cause {
  readonly object?: ObjectRef;
}

/** A row of a list. */
export interface ObjectRow {
  readonly object: ObjectRef;
  readonly state: State;
  /** Of the first cause; absent: no causes. */
  readonly reason?: string;
  /** One sentence. */
  readonly summary: string;
  /** "": no owner. */
  readonly provider: string;
  readonly creationTime?: string;
}

/** Events of the stream by name. It starts with `overview` and all `rows`; changes follow. */
export interface StreamEvents {
  readonly overview: Overview;
  /** New and changed rows, and deleted objects. */
  readonly rows: { readonly set: readonly ObjectRow[]; readonly removed: readonly ObjectRef[] };
  /** All rows were sent. */
  readonly complete: { readonly rows: number };
  readonly sample: Sample;
}

/** One point of the plots, every few seconds. */
export interface Sample {
  readonly time: string;
  /** Since the last sample, by provider. */
  readonly callsPerSecond: Readonly<Record<string, number>>;
  readonly failedCallsPerSecond: Readonly<Record<string, number>>;
  /** By controller. */
  readonly reconcilesPerSecond: Readonly<Record<string, number>>;
}

/** Cloud resources with this cluster's ownership tags and without an owner in the cluster. */
export interface OrphanReport {
  readonly time: string;
  readonly orphans: readonly Orphan[];
  /** Their orphans may be missing. */
  readonly unreachableProviders: readonly { readonly provider: string; readonly message: string }[];
}

export interface Orphan {
  readonly provider: string;
  readonly kind: "loadBalancer" | "route";
  readonly id: string;
  /** The owner in its ownership tags. */
  readonly owner: string;
  /** What the controller does with it, if anything. */
  readonly message: string;
}
