import type { Priority } from "../util/semaphore.ts";

export interface AddOptions {
  /** Raises the priority of a queued key, never lowers it. @default "high" */
  readonly priority?: Priority;
}

export interface RetryOptions extends AddOptions {
  /** Minimum delay: it lengthens the rate limiter's, never shortens it. @default 0 */
  readonly atLeastMs?: number;
}

/**
 * A queue of keys. A key is queued once and processed by one worker at a time. A key added during its processing is queued again afterwards.
 * No add is lost before {@link Workqueue.shutDown}.
 */
export interface Workqueue {
  add(key: string, options?: AddOptions): void;
  /** Adds after `delayMs`. The earliest of several delayed adds of a key counts. */
  addAfter(key: string, delayMs: number, options?: AddOptions): void;
  /** Counts a failure and adds the key after the rate limiter's delay, which is returned. The newest delay counts. */
  addRateLimited(key: string, options?: RetryOptions): number;
  /** Resets the failure count and cancels a pending retry. */
  forget(key: string): void;
  failures(key: string): number;
  subqueue(key: string): string;
  get(signal: AbortSignal): Promise<WorkItem | undefined>;
  done(key: string): void;
  readonly depth: number;
  state(key: string): KeyState;
  /** How many keys of its subqueue come before it; undefined: not queued. O(n). */
  ahead(key: string): number | undefined;
  /** State of the queue, with up to `limit` keys of each kind. O(n) in the delayed keys. */
  snapshot(limit: number): QueueSnapshot;
  /** Ignores adds, drops queued keys and releases workers. Keys that are processed still need `done`. */
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

export interface QueueSnapshot {
  readonly subqueues: readonly SubqueueSnapshot[];
  readonly working: SomeKeys<{ readonly forMs: number }>;
  readonly delayed: SomeKeys<{ readonly inMs: number; readonly failures: number }>;
}

export interface SubqueueSnapshot {
  /** "" without subqueues. */
  readonly name: string;
  readonly high: number;
  readonly low: number;
  readonly working: number;
}

export interface SomeKeys<Facts> {
  readonly count: number;
  readonly first: readonly ({ readonly key: string } & Facts)[];
}
