/** How long one waits for a place. */
export interface Admission {
  readonly priority: Priority;
  readonly signal: AbortSignal;
  /** Groups take turns: see {@link FairLine}. @default "" */
  readonly group?: string;
}

/** Admits at most `limit` at a time; the others wait by priority, then in turns of their groups. */
export class Semaphore {
  #limit: number;
  #inside = 0;
  readonly #waiting = new WaitQueue<() => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get limit(): number {
    return this.#limit;
  }

  get inside(): number {
    return this.#inside;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** A lower limit evicts no one. */
  setLimit(limit: number): void {
    this.#limit = limit;
    this.#admit();
  }

  /** Resolves with the function that leaves; rejects with the signal's reason. */
  async enter({ priority, signal, group = "" }: Admission): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#inside < this.#limit) this.#inside++;
    else await this.#wait(priority, signal, group);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#inside--;
      this.#admit();
    };
  }

  /** Runs `work` inside; rejects with the signal's reason if it aborts before. */
  async run<T>(admission: Admission, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(admission);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  #wait(priority: Priority, signal: AbortSignal, group: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.remove(priority, admitted);
        reject(signal.reason);
      };
      const admitted = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      this.#waiting.add(priority, admitted, group);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #admit(): void {
    while (this.#inside < this.#limit) {
      const admitted = this.#waiting.take();
      if (admitted === undefined) return;
      this.#inside++;
      admitted();
    }
  }
}

/** Creating, deleting and initializing go before refreshing, in workqueues and in provider calls. */
export type Priority = "high" | "low";

/** After this many high-priority ones in a row a low-priority one is next: a storm must not starve them. */
export const HIGH_IN_A_ROW = 4;

/** By priority, then in turns of the groups. */
export class WaitQueue<Waiter> {
  readonly #waiting: Readonly<Record<Priority, FairLine<Waiter>>> = { high: new FairLine(), low: new FairLine() };
  #highInARow = 0;

  get size(): number {
    return this.#waiting.high.size + this.#waiting.low.size;
  }

  count(priority: Priority): number {
    return this.#waiting[priority].size;
  }

  /** The most that are taken before one of that group added now, if none is added after it. */
  ahead(priority: Priority, group = ""): number {
    const { high, low } = this.#waiting;
    const ahead = this.#waiting[priority].aheadOfNew(group);
    return priority === "high"
      ? ahead + Math.min(low.size, Math.ceil((ahead + 1) / HIGH_IN_A_ROW))
      : ahead + Math.min(high.size, (ahead + 1) * HIGH_IN_A_ROW);
  }

  add(priority: Priority, waiter: Waiter, group = ""): void {
    this.#waiting[priority].add(waiter, group);
  }

  remove(priority: Priority, waiter: Waiter): void {
    this.#waiting[priority].remove(waiter);
  }

  take(): Waiter | undefined {
    const { high, low } = this.#waiting;
    const isLowDue = low.size > 0 && (high.size === 0 || this.#highInARow >= HIGH_IN_A_ROW);
    this.#highInARow = isLowDue || low.size === 0 ? 0 : this.#highInARow + 1;
    return (isLowDue ? low : high).take();
  }
}

/**
 * Items of several groups, for example the Services of several namespaces. The groups take turns, so that one with hundreds of items does
 * not delay the others; within a group the oldest goes first.
 */
export class FairLine<Item> {
  /** By group, the next one first. */
  readonly #groups = new Map<string, Set<Item>>();
  readonly #groupOf = new Map<Item, string>();

  get size(): number {
    return this.#groupOf.size;
  }

  has(item: Item): boolean {
    return this.#groupOf.has(item);
  }

  add(item: Item, group: string): void {
    this.remove(item);
    const items = this.#groups.get(group) ?? new Set<Item>();
    this.#groups.set(group, items.add(item));
    this.#groupOf.set(item, group);
  }

  remove(item: Item): void {
    const group = this.#groupOf.get(item);
    if (group === undefined) return;
    this.#groupOf.delete(item);
    const items = this.#groups.get(group);
    items?.delete(item);
    if (items?.size === 0) this.#groups.delete(group);
  }

  /** The next item, which stays in line. */
  first(): Item | undefined {
    for (const items of this.#groups.values()) for (const item of items) return item;
    return undefined;
  }

  /** Removes the first item. Its group goes to the end of the line. */
  take(): Item | undefined {
    const item = this.first();
    if (item === undefined) return undefined;
    const group = this.#groupOf.get(item) ?? "";
    this.remove(item);
    const left = this.#groups.get(group);
    if (left !== undefined) {
      this.#groups.delete(group);
      this.#groups.set(group, left);
    }
    return item;
  }

  /** Items that are taken before this one if none is added; undefined: not in line. O(n). */
  ahead(item: Item): number | undefined {
    const group = this.#groupOf.get(item);
    return group === undefined ? undefined : this.#before(group, [...(this.#groups.get(group) ?? [])].indexOf(item));
  }

  /** Items that are taken before one of that group that is added now. */
  aheadOfNew(group: string): number {
    return this.#before(group, this.#groups.get(group)?.size ?? 0);
  }

  /** @param position in its group, from 0 */
  #before(group: string, position: number): number {
    let ahead = position;
    let isBefore = true;
    for (const [other, { size }] of this.#groups) {
      if (other === group) isBefore = false;
      else ahead += Math.min(size, isBefore ? position + 1 : position);
    }
    return ahead;
  }
}
