import type { Replica } from "./explanation.ts";
import type { ObjectKind, ObjectRef } from "./object-ref.ts";
import type { Cause, State } from "./status.ts";

/** How everything stands, at a glance. Small whatever the cluster's size. */
export interface Overview {
  readonly time: string;
  readonly cluster: string;
  readonly replica: Replica;
  /** False: something of it is only observed (--mode). */
  readonly observing: boolean;
  readonly counts: Readonly<Record<ObjectKind, Readonly<Record<State, number>>>>;
  readonly controllers: readonly ControllerSummary[];
  readonly providers: readonly ProviderSummary[];
  /** What an operator should see first: a brake that holds, a provider that is away. Most serious first. */
  readonly alarms: readonly Alarm[];
}

export interface ControllerSummary {
  readonly name: string;
  readonly state: string;
  /** Keys. */
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
  /** Calls since it started. */
  readonly calls: number;
  readonly failedCalls: number;
  readonly inFlight: number;
  readonly budgets: readonly CallBudgetStatus[];
  /** Absent: this replica does not lead, and cannot know. */
  readonly deletionCircuitBreaker?: DeletionCircuitBreaker;
}

export interface CallBudgetStatus {
  readonly quotaClass: string;
  /** Absent: without limit. */
  readonly cloudCallsPerSecond?: number;
  readonly tokens?: number;
  readonly queuedCalls: number;
  readonly throttledUntilTime?: string;
}

export interface DeletionCircuitBreaker {
  /** No Node of the provider is deleted until somebody releases it. */
  readonly open: boolean;
  /** Nodes whose machine is said to be gone. */
  readonly absentNodes: number;
  readonly message?: string;
}

export interface Alarm extends Cause {
  readonly object?: ObjectRef;
}

/** One line of a list. */
export interface ObjectRow {
  readonly object: ObjectRef;
  readonly state: State;
  /** Absent: nothing stands in the way. */
  readonly reason?: string;
  /** One sentence. */
  readonly summary: string;
  /** "": nobody's. */
  readonly provider: string;
  /** When it was created. */
  readonly creationTime?: string;
}

/** Events of the stream by name. It begins with `overview` and as many `rows` as there are, and then says what changes. */
export interface StreamEvents {
  readonly overview: Overview;
  /** Rows that are new or changed, and objects that are gone. */
  readonly rows: { readonly set: readonly ObjectRow[]; readonly removed: readonly ObjectRef[] };
  /** All rows have been sent once. */
  readonly complete: { readonly rows: number };
  readonly sample: Sample;
}

/** One point of the plots, every few seconds. */
export interface Sample {
  readonly time: string;
  /** Calls a second since the last sample, by provider. */
  readonly callsPerSecond: Readonly<Record<string, number>>;
  readonly failedCallsPerSecond: Readonly<Record<string, number>>;
  /** Reconciles a second, by controller. */
  readonly reconcilesPerSecond: Readonly<Record<string, number>>;
}

/** What is at the clouds with this cluster's stamp and has no owner in the cluster. */
export interface OrphanReport {
  readonly time: string;
  readonly orphans: readonly Orphan[];
  /** Providers that could not be asked, so that the list may lack some. */
  readonly unreachableProviders: readonly { readonly provider: string; readonly message: string }[];
}

export interface Orphan {
  readonly provider: string;
  readonly kind: "loadBalancer" | "route";
  /** Of the provider. */
  readonly id: string;
  /** The owner that its stamp names. */
  readonly owner: string;
  /** Why it is still there: what the controller does about it, if anything. */
  readonly message: string;
}
