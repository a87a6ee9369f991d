import { namespaceOf } from "../api/meta.ts";
import { FairLine, type Priority } from "../util/semaphore.ts";
import type { SubqueueSnapshot } from "./queue.ts";

/**
 * Parts of a queue that do not block each other, for example one for each provider: each has its own workers, so that a cloud that hangs
 * uses none of the others.
 */
export interface SubqueueOptions {
  /** The subqueue of a key, asked when it gets in line. */
  readonly of: (key: string) => string;
  /** Keys of one subqueue that are worked on at once. */
  readonly limit: number;
}

export interface NextKey {
  readonly key: string;
  readonly priority: Priority;
  readonly addedMs: number;
}

/**
 * After this many keys of high priority, one of low priority is taken, so that it is not starved. More than for calls (util/semaphore.ts),
 * because a queued key costs nothing, while a waiting call keeps a worker.
 */
const HIGH_IN_A_ROW = 20;

const ONE_SUBQUEUE: SubqueueOptions = { of: () => "", limit: Number.POSITIVE_INFINITY };

/** A key has one priority. */
interface Subqueue {
  readonly name: string;
  readonly high: FairLine<string>;
  readonly low: FairLine<string>;
  readonly addedMs: Map<string, number>;
  working: number;
}

/** Queued keys by subqueue. Across subqueues, high priority goes first, then the oldest first key. */
export class Subqueues {
  readonly #options: SubqueueOptions;
  readonly #subqueues = new Map<string, Subqueue>();
  /** Subqueues of the keys in line and in work. */
  readonly #subqueueOf = new Map<string, Subqueue>();
  #size = 0;
  #highInARow = 0;

  constructor(options: SubqueueOptions = ONE_SUBQUEUE) {
    this.#options = options;
  }

  /** Keys in line. */
  get size(): number {
    return this.#size;
  }

  /** Name of the subqueue of a key in line or in work; "" for others. */
  nameOf(key: string): string {
    return this.#subqueueOf.get(key)?.name ?? "";
  }

  priorityOf(key: string): Priority | undefined {
    const subqueue = this.#subqueueOf.get(key);
    if (subqueue?.high.has(key) === true) return "high";
    return subqueue?.low.has(key) === true ? "low" : undefined;
  }

  /** Keys before it, without low-priority keys that are let through; undefined: not queued. */
  ahead(key: string): number | undefined {
    const priority = this.priorityOf(key);
    const subqueue = this.#subqueueOf.get(key);
    if (subqueue === undefined || priority === undefined) return undefined;
    return (subqueue[priority].ahead(key) ?? 0) + (priority === "low" ? subqueue.high.size : 0);
  }

  /** Queues a key that is not processed, or raises its priority. True: it was not queued. */
  add(key: string, priority: Priority, nowMs: number): boolean {
    const before = this.priorityOf(key);
    const subqueue = this.#subqueueOf.get(key) ?? this.#enter(key);
    if (before === "high" || before === priority) return false;
    if (before === undefined) subqueue.addedMs.set(key, nowMs);
    subqueue.low.remove(key);
    subqueue[priority].add(key, namespaceOf(key));
    if (before === undefined) this.#size++;
    return before === undefined;
  }

  /** The next key of a subqueue with room. It is processed from now on. */
  take(): NextKey | undefined {
    const open = [...this.#subqueues.values()].filter(({ working }) => working < this.#options.limit);
    const high = oldest(open, "high");
    const low = oldest(open, "low");
    const next = low === undefined || (high !== undefined && this.#highInARow < HIGH_IN_A_ROW) ? high : low;
    if (next === undefined) return undefined;
    const { subqueue, priority, key, addedMs } = next;
    subqueue[priority].take();
    subqueue.addedMs.delete(key);
    subqueue.working++;
    this.#size--;
    this.#highInARow = priority === "high" ? this.#highInARow + 1 : 0;
    return { key, priority, addedMs };
  }

  done(key: string): void {
    const subqueue = this.#subqueueOf.get(key);
    if (subqueue === undefined) return;
    this.#subqueueOf.delete(key);
    subqueue.working--;
  }

  snapshot(): readonly SubqueueSnapshot[] {
    return [...this.#subqueues.values()].map(({ name, high, low, working }) => ({
      name,
      high: high.size,
      low: low.size,
      working,
    }));
  }

  clear(): void {
    for (const subqueue of this.#subqueues.values()) {
      for (const line of [subqueue.high, subqueue.low]) {
        for (let key = line.take(); key !== undefined; key = line.take()) this.#subqueueOf.delete(key);
      }
      subqueue.addedMs.clear();
    }
    this.#size = 0;
  }

  #enter(key: string): Subqueue {
    const name = this.#options.of(key);
    const subqueue = this.#subqueues.get(name) ?? {
      name,
      high: new FairLine(),
      low: new FairLine(),
      addedMs: new Map(),
      working: 0,
    };
    this.#subqueues.set(name, subqueue);
    this.#subqueueOf.set(key, subqueue);
    return subqueue;
  }
}

type Head = NextKey & { readonly subqueue: Subqueue };

function oldest(subqueues: readonly Subqueue[], priority: Priority): Head | undefined {
  let head: Head | undefined;
  for (const subqueue of subqueues) {
    const first = subqueue[priority].first();
    if (first === undefined) continue;
    const addedMs = subqueue.addedMs.get(first) ?? 0;
    if (head === undefined || addedMs < head.addedMs) head = { subqueue, priority, key: first, addedMs };
  }
  return head;
}
