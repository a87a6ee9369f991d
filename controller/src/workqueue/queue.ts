import type { Priority } from "../util/semaphore.ts";

export interface AddOptions {
  /** A key waiting as low moves up when it is added as high; never down. @default "high" */
  readonly priority?: Priority;
}

/**
 * Keys waiting for work. A key is in line at most once and with one worker at most; added while worked on, it comes again
 * afterwards. No add is lost before {@link Workqueue.shutDown}.
 */
export interface Workqueue {
  add(key: string, options?: AddOptions): void;
  /** Adds after `delayMs`. Of several waiting adds of one key the earliest counts. */
  addAfter(key: string, delayMs: number, options?: AddOptions): void;
  /** Counts a failure of the key and adds it after the rate limiter's delay, answered here. The newest failure's delay counts. */
  addRateLimited(key: string, options?: AddOptions): number;
  /** Sets the failure count of the key back to none and drops a retry still waiting. */
  forget(key: string): void;
  failures(key: string): number;
  /** Name of the subqueue of a key in line or in work; "" for others, and where there is one for all. */
  subqueue(key: string): string;
  /** Next key; waits for one. undefined once the queue is shut down or `signal` aborts. */
  get(signal: AbortSignal): Promise<WorkItem | undefined>;
  /** The worker has finished with the key. */
  done(key: string): void;
  /** Keys ready to be worked on. */
  readonly depth: number;
  /** Where the key is right now, for explain. */
  state(key: string): KeyState;
  /** Keys of its subqueue that go before a key in line; undefined: it is not in line. Costs as much as there are. */
  ahead(key: string): number | undefined;
  /** How the queue stands, for people: keys by name up to `limit` of each kind. Costs as much as there are delayed keys. */
  snapshot(limit: number): QueueSnapshot;
  /** No more adds; waiting keys are dropped, workers are let go. Keys in work are finished with `done` as ever. */
  shutDown(): void;
}

export interface WorkItem {
  readonly key: string;
  readonly priority: Priority;
}

export type KeyState =
  | { readonly kind: "unknown" }
  | { readonly kind: "waiting"; readonly priority: Priority }
  | { readonly kind: "delayed"; readonly inMs: number }
  | { readonly kind: "working"; readonly forMs: number };

/** How a queue stands. */
export interface QueueSnapshot {
  readonly subqueues: readonly SubqueueSnapshot[];
  /** In work, longest first. */
  readonly working: SomeKeys<{ readonly forMs: number }>;
  /** To be ready later, soonest first. */
  readonly delayed: SomeKeys<{ readonly inMs: number; readonly failures: number }>;
}

/** Keys of one subqueue. */
export interface SubqueueSnapshot {
  /** "" where the queue has one subqueue for all. */
  readonly name: string;
  /** In line. */
  readonly high: number;
  readonly low: number;
  readonly working: number;
}

/** The first few of many keys. */
export interface SomeKeys<Facts> {
  readonly count: number;
  readonly first: readonly ({ readonly key: string } & Facts)[];
}
