import { backoffMs } from "../util/backoff.ts";
import type { Clock, Timer } from "../util/clock.ts";
import type { Priority } from "../util/semaphore.ts";
import type { QueueMetrics } from "./metrics.ts";
import type { AddOptions, KeyState, QueueSnapshot, RetryOptions, WorkItem, Workqueue } from "./queue.ts";
import { type SubqueueOptions, Subqueues } from "./subqueues.ts";

export interface WorkqueueDependencies {
  readonly clock: Clock;
  readonly limiter: RateLimiter;
  readonly metrics: QueueMetrics;
  /** @default one without limit */
  readonly subqueues?: SubqueueOptions;
}

export function createWorkqueue(dependencies: WorkqueueDependencies): Workqueue {
  return new RateLimitedQueue(dependencies);
}

class RateLimitedQueue implements Workqueue {
  readonly #deps: WorkqueueDependencies;
  readonly #subqueues: Subqueues;
  readonly #working = new Map<string, number>();
  /** Added during processing: queued again when done. */
  readonly #again = new Map<string, Priority>();
  readonly #later: Delays;
  readonly #retries: Delays;
  readonly #laterPriority = new Map<string, Priority>();
  readonly #waiters = new Set<(item: WorkItem | undefined) => void>();
  #isOpen = true;

  constructor(dependencies: WorkqueueDependencies) {
    this.#deps = dependencies;
    this.#subqueues = new Subqueues(dependencies.subqueues);
    this.#later = new Delays(dependencies.clock, (key) => this.#ready(key));
    this.#retries = new Delays(dependencies.clock, (key) => this.#ready(key));
    dependencies.metrics.watchWork(() => this.#runningMs());
  }

  get depth(): number {
    return this.#subqueues.size;
  }

  add(key: string, { priority = "high" }: AddOptions = {}): void {
    if (!this.#isOpen) return;
    if (this.#working.has(key)) this.#repeat(key, priority);
    else this.#enqueue(key, priority);
  }

  addAfter(key: string, delayMs: number, options: AddOptions = {}): void {
    if (!this.#isOpen) return;
    if (delayMs <= 0) return this.add(key, options);
    this.#remember(key, options);
    const leftMs = this.#later.leftMs(key);
    if (leftMs === undefined || delayMs < leftMs) this.#later.set(key, delayMs);
  }

  addRateLimited(key: string, options: RetryOptions = {}): number {
    const delayMs = Math.max(this.#deps.limiter.delayMs(key), options.atLeastMs ?? 0);
    this.#deps.metrics.retried();
    if (!this.#isOpen) return delayMs;
    this.#remember(key, options);
    this.#retries.set(key, delayMs);
    return delayMs;
  }

  forget(key: string): void {
    this.#deps.limiter.forget(key);
    this.#retries.cancel(key);
    this.#dropPriority(key);
  }

  failures(key: string): number {
    return this.#deps.limiter.failures(key);
  }

  subqueue(key: string): string {
    return this.#subqueues.nameOf(key);
  }

  get(signal: AbortSignal): Promise<WorkItem | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    const item = this.#take();
    if (item !== undefined || !this.#isOpen) return Promise.resolve(item);
    return new Promise((resolve) => {
      const give = (given: WorkItem | undefined): void => {
        this.#waiters.delete(give);
        signal.removeEventListener("abort", onAbort);
        resolve(given);
      };
      const onAbort = (): void => give(undefined);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiters.add(give);
    });
  }

  done(key: string): void {
    const sinceMs = this.#working.get(key);
    if (sinceMs === undefined) return;
    this.#working.delete(key);
    this.#subqueues.done(key);
    this.#deps.metrics.finished(this.#deps.clock.monotonicMs() - sinceMs);
    const priority = this.#again.get(key);
    this.#again.delete(key);
    if (priority !== undefined) this.#enqueue(key, priority);
    // Its subqueue has room.
    this.#serve();
  }

  state(key: string): KeyState {
    const sinceMs = this.#working.get(key);
    if (sinceMs !== undefined) return { kind: "working", forMs: this.#deps.clock.monotonicMs() - sinceMs };
    const priority = this.#subqueues.priorityOf(key);
    if (priority !== undefined) return { kind: "waiting", priority };
    const delays = [this.#later.leftMs(key), this.#retries.leftMs(key)].filter((ms) => ms !== undefined);
    return delays.length === 0 ? { kind: "unknown" } : { kind: "delayed", inMs: Math.min(...delays) };
  }

  ahead(key: string): number | undefined {
    return this.#subqueues.ahead(key);
  }

  snapshot(limit: number): QueueSnapshot {
    const nowMs = this.#deps.clock.monotonicMs();
    const working = [...this.#working]
      .map(([key, sinceMs]) => ({ key, forMs: nowMs - sinceMs }))
      .toSorted((one, other) => other.forMs - one.forMs);
    const dueMs = new Map(this.#later.left());
    for (const [key, leftMs] of this.#retries.left()) {
      dueMs.set(key, Math.min(leftMs, dueMs.get(key) ?? Number.POSITIVE_INFINITY));
    }
    const delayed = [...dueMs].toSorted(([, one], [, other]) => one - other).slice(0, limit);
    return {
      subqueues: this.#subqueues.snapshot(),
      working: { count: working.length, first: working.slice(0, limit) },
      delayed: {
        count: dueMs.size,
        first: delayed.map(([key, inMs]) => ({ key, inMs, failures: this.failures(key) })),
      },
    };
  }

  shutDown(): void {
    this.#isOpen = false;
    this.#later.clear();
    this.#retries.clear();
    this.#laterPriority.clear();
    this.#again.clear();
    this.#subqueues.clear();
    this.#deps.metrics.depth(0);
    for (const give of this.#waiters) give(undefined);
  }

  #enqueue(key: string, priority: Priority): void {
    if (!this.#subqueues.add(key, priority, this.#deps.clock.monotonicMs())) return;
    this.#deps.metrics.added();
    this.#deps.metrics.depth(this.depth);
    this.#serve();
  }

  #repeat(key: string, priority: Priority): void {
    if (this.#again.get(key) !== "high") this.#again.set(key, priority);
  }

  /** Gives the next key to the longest waiting worker. */
  #serve(): void {
    const [give] = this.#waiters;
    if (give === undefined) return;
    const item = this.#take();
    if (item !== undefined) give(item);
  }

  #take(): WorkItem | undefined {
    const next = this.#subqueues.take();
    if (next === undefined) return undefined;
    const { key, priority, addedMs } = next;
    const nowMs = this.#deps.clock.monotonicMs();
    this.#working.set(key, nowMs);
    this.#deps.metrics.started(nowMs - addedMs);
    this.#deps.metrics.depth(this.depth);
    return { key, priority };
  }

  #ready(key: string): void {
    const priority = this.#laterPriority.get(key) ?? "high";
    this.#dropPriority(key);
    this.add(key, { priority });
  }

  #remember(key: string, { priority = "high" }: AddOptions): void {
    if (this.#laterPriority.get(key) !== "high") this.#laterPriority.set(key, priority);
  }

  #dropPriority(key: string): void {
    if (this.#later.leftMs(key) === undefined && this.#retries.leftMs(key) === undefined)
      this.#laterPriority.delete(key);
  }

  #runningMs(): readonly number[] {
    const nowMs = this.#deps.clock.monotonicMs();
    return [...this.#working.values()].map((sinceMs) => nowMs - sinceMs);
  }
}

export interface RateLimiter {
  delayMs(key: string): number;
  forget(key: string): void;
  failures(key: string): number;
}

export interface ExponentialOptions {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** client-go's default controller limits: 5 ms doubled to 1000 s (workqueue/default_rate_limiters.go v0.36.3). */
export const DEFAULT_BACKOFF: ExponentialOptions = { initialMs: 5, maxMs: 1_000_000 };

/** The service controller's: 5 s doubled to 5 min (cloud-provider/controllers/service/controller.go v0.36.3). */
export const SERVICE_BACKOFF: ExponentialOptions = { initialMs: 5000, maxMs: 300_000 };

/** Doubles the delay of a key with each consecutive failure. No jitter, as upstream. */
export function exponentialLimiter(options: ExponentialOptions): RateLimiter {
  const failures = new Map<string, number>();
  return {
    delayMs: (key) => {
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      return backoffMs(options, count, () => 0);
    },
    forget: (key) => void failures.delete(key),
    failures: (key) => failures.get(key) ?? 0,
  };
}

interface Entry {
  readonly key: string;
  readonly atMs: number;
  /** Ignored when its time comes, because removal from the middle of a heap is expensive. */
  cancelled: boolean;
}

const COMPACT_SLACK = 1000;

/** Delayed keys: a heap by time with one timer. */
export class Delays {
  readonly #clock: Clock;
  readonly #onReady: (key: string) => void;
  readonly #entries = new Map<string, Entry>();
  readonly #heap: Entry[] = [];
  #timer: Timer | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, onReady: (key: string) => void) {
    this.#clock = clock;
    this.#onReady = onReady;
  }

  get size(): number {
    return this.#entries.size;
  }

  leftMs(key: string): number | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined ? undefined : Math.max(0, entry.atMs - this.#clock.monotonicMs());
  }

  *left(): Iterable<readonly [key: string, leftMs: number]> {
    const nowMs = this.#clock.monotonicMs();
    for (const { key, atMs } of this.#entries.values()) yield [key, Math.max(0, atMs - nowMs)];
  }

  set(key: string, delayMs: number): void {
    this.cancel(key);
    const entry: Entry = { key, atMs: this.#clock.monotonicMs() + delayMs, cancelled: false };
    this.#entries.set(key, entry);
    push(this.#heap, entry);
    this.#compact();
    this.#arm();
  }

  cancel(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.cancelled = true;
    this.#entries.delete(key);
  }

  clear(): void {
    this.#timer?.cancel();
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    this.#entries.clear();
    this.#heap.length = 0;
  }

  /** Removes canceled entries when they are the majority. A sorted array is a heap. */
  #compact(): void {
    if (this.#heap.length <= 2 * this.#entries.size + COMPACT_SLACK) return;
    const live = [...this.#entries.values()].sort((a, b) => a.atMs - b.atMs);
    this.#heap.length = 0;
    for (const entry of live) this.#heap.push(entry);
  }

  #arm(): void {
    const first = this.#heap[0];
    if (first === undefined || first.atMs >= this.#timerAtMs) return;
    this.#timer?.cancel();
    this.#timerAtMs = first.atMs;
    this.#timer = this.#clock.schedule(first.atMs - this.#clock.monotonicMs(), () => this.#fire());
  }

  #fire(): void {
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.monotonicMs();
    for (
      let first = this.#heap[0];
      first !== undefined && (first.cancelled || first.atMs <= nowMs);
      first = this.#heap[0]
    ) {
      pop(this.#heap);
      if (first.cancelled) continue;
      this.#entries.delete(first.key);
      this.#onReady(first.key);
    }
    this.#arm();
  }
}

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const above = (at - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || parent.atMs <= entry.atMs) break;
    heap[at] = parent;
    at = above;
  }
  heap[at] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    const below = earlier(heap, left, left + 1);
    const child = heap[below];
    if (child === undefined || child.atMs >= last.atMs) break;
    heap[at] = child;
    at = below;
  }
  heap[at] = last;
}

function earlier(heap: readonly Entry[], left: number, right: number): number {
  const leftMs = heap[left]?.atMs ?? Number.POSITIVE_INFINITY;
  const rightMs = heap[right]?.atMs ?? Number.POSITIVE_INFINITY;
  return rightMs < leftMs ? right : left;
}
