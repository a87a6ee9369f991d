/** How long one waits for a place. */
export interface Admission {
  readonly priority: Priority;
  readonly signal: AbortSignal;
}

/** Admits at most `limit` at a time; the others wait by priority, then first come, first served. */
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
  async enter(priority: Priority, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#inside < this.#limit) this.#inside++;
    else await this.#wait(priority, signal);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#inside--;
      this.#admit();
    };
  }

  /** Runs `work` inside; rejects with the signal's reason if it aborts before. */
  async run<T>({ priority, signal }: Admission, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(priority, signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  #wait(priority: Priority, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.remove(priority, admitted);
        reject(signal.reason);
      };
      const admitted = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      this.#waiting.add(priority, admitted);
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

/** By priority, then first in, first out. */
export class WaitQueue<Waiter> {
  readonly #waiting: Readonly<Record<Priority, Set<Waiter>>> = { high: new Set(), low: new Set() };
  #highInARow = 0;

  get size(): number {
    return this.#waiting.high.size + this.#waiting.low.size;
  }

  count(priority: Priority): number {
    return this.#waiting[priority].size;
  }

  /** The most that are taken before one added now, if none is added after it. */
  ahead(priority: Priority): number {
    const { high, low } = this.#waiting;
    return priority === "high"
      ? high.size + Math.min(low.size, Math.ceil((high.size + 1) / HIGH_IN_A_ROW))
      : low.size + Math.min(high.size, (low.size + 1) * HIGH_IN_A_ROW);
  }

  add(priority: Priority, waiter: Waiter): void {
    this.#waiting[priority].add(waiter);
  }

  remove(priority: Priority, waiter: Waiter): void {
    this.#waiting[priority].delete(waiter);
  }

  take(): Waiter | undefined {
    const { high, low } = this.#waiting;
    const isLowDue = low.size > 0 && (high.size === 0 || this.#highInARow >= HIGH_IN_A_ROW);
    this.#highInARow = isLowDue || low.size === 0 ? 0 : this.#highInARow + 1;
    const queue = isLowDue ? low : high;
    const [next] = queue;
    if (next !== undefined) queue.delete(next);
    return next;
  }
}
