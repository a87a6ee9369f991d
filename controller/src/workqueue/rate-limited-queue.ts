import type { Clock } from "../util/clock.ts";
import { Delays } from "./delays.ts";
import type { QueueMetrics } from "./metrics.ts";
import type { AddOptions, KeyState, Priority, WorkItem, Workqueue } from "./queue.ts";
import type { RateLimiter } from "./rate-limiter.ts";

export interface WorkqueueDependencies {
  readonly clock: Clock;
  readonly limiter: RateLimiter;
  readonly metrics: QueueMetrics;
}

/** So many keys of high priority in a row, then one of low: a storm must not starve refreshes for ever. */
const HIGH_IN_A_ROW = 20;

export function createWorkqueue(dependencies: WorkqueueDependencies): Workqueue {
  return new RateLimitedQueue(dependencies);
}

interface Waiter {
  give(item: WorkItem | undefined): void;
}

type Life = "open" | "draining" | "closed";

class RateLimitedQueue implements Workqueue {
  readonly #deps: WorkqueueDependencies;
  /** In line, oldest first, with the time of the add. A key is in one of the two at most. */
  readonly #lines: Readonly<Record<Priority, Map<string, number>>> = { high: new Map(), low: new Map() };
  /** With a worker, since when. */
  readonly #working = new Map<string, number>();
  /** Added while with a worker: back in line when done. */
  readonly #again = new Map<string, Priority>();
  readonly #later: Delays;
  readonly #retries: Delays;
  /** Priority of keys in the two above. */
  readonly #laterPriority = new Map<string, Priority>();
  readonly #waiters = new Set<Waiter>();
  #life: Life = "open";
  #highInARow = 0;
  #drained: (() => void) | undefined;

  constructor(dependencies: WorkqueueDependencies) {
    this.#deps = dependencies;
    this.#later = new Delays(dependencies.clock, (key) => this.#ready(key));
    this.#retries = new Delays(dependencies.clock, (key) => this.#ready(key));
    dependencies.metrics.watchWork(() => this.#runningMs());
  }

  get depth(): number {
    return this.#lines.high.size + this.#lines.low.size;
  }

  add(key: string, { priority = "high" }: AddOptions = {}): void {
    if (this.#life !== "open") return;
    if (this.#working.has(key)) this.#repeat(key, priority);
    else this.#enqueue(key, priority);
  }

  addAfter(key: string, delayMs: number, options: AddOptions = {}): void {
    if (this.#life !== "open") return;
    if (delayMs <= 0) return this.add(key, options);
    this.#remember(key, options);
    const leftMs = this.#later.leftMs(key);
    if (leftMs === undefined || delayMs < leftMs) this.#later.set(key, delayMs);
  }

  addRateLimited(key: string, options: AddOptions = {}): number {
    const delayMs = this.#deps.limiter.delayMs(key);
    this.#deps.metrics.retried();
    if (this.#life !== "open") return delayMs;
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

  get(signal: AbortSignal): Promise<WorkItem | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    const item = this.#take();
    if (item !== undefined || this.#life !== "open") return Promise.resolve(item);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        give: (given) => {
          this.#waiters.delete(waiter);
          signal.removeEventListener("abort", onAbort);
          resolve(given);
        },
      };
      const onAbort = (): void => waiter.give(undefined);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  done(key: string): void {
    const sinceMs = this.#working.get(key);
    if (sinceMs === undefined) return;
    this.#working.delete(key);
    this.#deps.metrics.finished(this.#deps.clock.monotonicMs() - sinceMs);
    const priority = this.#again.get(key);
    this.#again.delete(key);
    if (priority !== undefined && this.#life === "open") this.#enqueue(key, priority);
    this.#checkDrained();
  }

  state(key: string): KeyState {
    const sinceMs = this.#working.get(key);
    if (sinceMs !== undefined) return { kind: "working", forMs: this.#deps.clock.monotonicMs() - sinceMs };
    if (this.#lines.high.has(key)) return { kind: "waiting", priority: "high" };
    if (this.#lines.low.has(key)) return { kind: "waiting", priority: "low" };
    const delays = [this.#later.leftMs(key), this.#retries.leftMs(key)].filter((ms) => ms !== undefined);
    return delays.length === 0 ? { kind: "unknown" } : { kind: "delayed", inMs: Math.min(...delays) };
  }

  shutDown(): void {
    this.#stopAdding("closed");
    this.#lines.high.clear();
    this.#lines.low.clear();
    this.#deps.metrics.depth(0);
    for (const waiter of this.#waiters) waiter.give(undefined);
  }

  drain(signal: AbortSignal): Promise<void> {
    if (this.#life === "open") this.#stopAdding("draining");
    // Waiters exist only when nothing is in line: there is no more work for them.
    for (const waiter of this.#waiters) waiter.give(undefined);
    return new Promise((resolve) => {
      const finish = (): void => {
        signal.removeEventListener("abort", finish);
        this.shutDown();
        resolve();
      };
      this.#drained = finish;
      signal.addEventListener("abort", finish, { once: true });
      if (signal.aborted) finish();
      else this.#checkDrained();
    });
  }

  #enqueue(key: string, priority: Priority): void {
    const { high, low } = this.#lines;
    if (high.has(key) || (priority === "low" && low.has(key))) return;
    const addedMs = low.get(key) ?? this.#deps.clock.monotonicMs();
    if (low.delete(key)) {
      high.set(key, addedMs);
      return;
    }
    this.#lines[priority].set(key, addedMs);
    this.#deps.metrics.added();
    this.#deps.metrics.depth(this.depth);
    this.#serve();
  }

  #repeat(key: string, priority: Priority): void {
    if (this.#again.get(key) !== "high") this.#again.set(key, priority);
  }

  /** Gives the first key in line to the worker that has waited longest. */
  #serve(): void {
    const [waiter] = this.#waiters;
    if (waiter === undefined) return;
    const item = this.#take();
    if (item !== undefined) waiter.give(item);
  }

  #take(): WorkItem | undefined {
    const priority = this.#nextLine();
    const line = this.#lines[priority];
    const [first] = line;
    if (first === undefined) return undefined;
    const [key, addedMs] = first;
    line.delete(key);
    this.#highInARow = priority === "high" ? this.#highInARow + 1 : 0;
    const nowMs = this.#deps.clock.monotonicMs();
    this.#working.set(key, nowMs);
    this.#deps.metrics.started(nowMs - addedMs);
    this.#deps.metrics.depth(this.depth);
    return { key, priority };
  }

  #nextLine(): Priority {
    const { high, low } = this.#lines;
    if (low.size === 0) return "high";
    return high.size === 0 || this.#highInARow >= HIGH_IN_A_ROW ? "low" : "high";
  }

  #ready(key: string): void {
    const priority = this.#laterPriority.get(key) ?? "high";
    this.#dropPriority(key);
    this.add(key, { priority });
  }

  /** Of a delayed key's priorities the highest counts. */
  #remember(key: string, { priority = "high" }: AddOptions): void {
    if (this.#laterPriority.get(key) !== "high") this.#laterPriority.set(key, priority);
  }

  #dropPriority(key: string): void {
    if (this.#later.leftMs(key) === undefined && this.#retries.leftMs(key) === undefined)
      this.#laterPriority.delete(key);
  }

  #stopAdding(life: Life): void {
    this.#life = life;
    this.#later.clear();
    this.#retries.clear();
    this.#laterPriority.clear();
    this.#again.clear();
  }

  #checkDrained(): void {
    if (this.#life === "draining" && this.depth === 0 && this.#working.size === 0) this.#drained?.();
  }

  #runningMs(): readonly number[] {
    const nowMs = this.#deps.clock.monotonicMs();
    return [...this.#working.values()].map((sinceMs) => nowMs - sinceMs);
  }
}
