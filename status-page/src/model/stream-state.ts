import type { Overview, Sample, StreamEvents } from "@cloudwire/operator-api";
import { type Entries, NO_ENTRIES, withRows } from "./entries.ts";

/** The data from the stream. */
export interface StreamState {
  readonly overview: Overview | undefined;
  readonly entries: Entries;
  /** Rows of a new connection that has not sent all rows yet; absent: `entries` is up to date. */
  readonly incoming: Entries | undefined;
  /** Whether all rows have been received once. */
  readonly isComplete: boolean;
  /** Oldest first. */
  readonly samples: readonly TimedSample[];
  /** Of the providers' budgets, one for each overview. */
  readonly budgets: readonly BudgetSample[];
  /** Version at the first connection; another version requires a reload. */
  readonly firstVersion: string | undefined;
}

export interface TimedSample extends Sample {
  readonly atMs: number;
}

export interface BudgetSample {
  readonly atMs: number;
  /** Available tokens by provider and quota class; absent: no limit. */
  readonly tokens: Readonly<Record<string, number>>;
  /** Calls that wait for a token, by provider and quota class. */
  readonly waiting: Readonly<Record<string, number>>;
}

export const EMPTY_STATE: StreamState = {
  overview: undefined,
  entries: NO_ENTRIES,
  incoming: undefined,
  isComplete: false,
  samples: [],
  budgets: [],
  firstVersion: undefined,
};

/** Limits the memory of a page that stays open. */
export const MAX_SAMPLES = 360;

/** A connection is open. The previous rows are shown until the new connection has sent all rows. */
export function onOpen(state: StreamState): StreamState {
  return {
    ...state,
    incoming: state.isComplete ? NO_ENTRIES : undefined,
    entries: state.isComplete ? state.entries : NO_ENTRIES,
  };
}

/** Whether the connection has sent all rows. */
export function hasAllRows({ isComplete, incoming }: StreamState): boolean {
  return isComplete && incoming === undefined;
}

/** The state after an event of the stream. Unknown events are ignored. */
export function onEvent(state: StreamState, name: string, data: string): StreamState {
  switch (name) {
    case "overview":
      return onOverview(state, JSON.parse(data));
    case "rows":
      return onRows(state, JSON.parse(data));
    case "complete":
      return onComplete(state);
    case "sample":
      return onSample(state, JSON.parse(data));
    default:
      return state;
  }
}

function onOverview(state: StreamState, overview: Overview): StreamState {
  return {
    ...state,
    overview,
    firstVersion: state.firstVersion ?? overview.replica.version,
    budgets: withSample(state.budgets, budgetSample(overview)),
  };
}

function onRows(state: StreamState, { set, removed }: StreamEvents["rows"]): StreamState {
  if (state.incoming !== undefined) return { ...state, incoming: withRows(state.incoming, set, removed) };
  return { ...state, entries: withRows(state.entries, set, removed) };
}

function onComplete(state: StreamState): StreamState {
  return { ...state, isComplete: true, entries: state.incoming ?? state.entries, incoming: undefined };
}

/** A new connection may repeat samples of an earlier one. */
function onSample(state: StreamState, sample: Sample): StreamState {
  return { ...state, samples: withSample(state.samples, { ...sample, atMs: Date.parse(sample.time) }) };
}

function withSample<T extends { readonly atMs: number }>(samples: readonly T[], sample: T): readonly T[] {
  const others = samples.filter(({ atMs }) => atMs !== sample.atMs);
  return [...others, sample].sort((a, b) => a.atMs - b.atMs).slice(-MAX_SAMPLES);
}

function budgetSample({ time, providers }: Overview): BudgetSample {
  const tokens: Record<string, number> = {};
  const waiting: Record<string, number> = {};
  for (const { name, budgets } of providers) {
    for (const budget of budgets) {
      const key = `${name} ${budget.quotaClass}`;
      waiting[key] = budget.queuedCalls;
      if (budget.tokens !== undefined) tokens[key] = budget.tokens;
    }
  }
  return { atMs: Date.parse(time), tokens, waiting };
}
