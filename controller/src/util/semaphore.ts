interface Waiter {
  readonly enter: () => void;
}

/** How somebody asks to be let in. */
export interface Admission {
  readonly priority: Priority;
  readonly signal: AbortSignal;
}

/** Lets at most `limit` in at once; those who wait enter by priority, then in the order of coming. Nobody is passed over for ever. */
export class Semaphore {
  #limit: number;
  #inside = 0;
  readonly #waiting = new PriorityLine<Waiter>();

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

  /** Those inside stay when the limit goes down. */
  setLimit(limit: number): void {
    this.#limit = limit;
    this.#admit();
  }

  /** Resolves with the way out, to be called once; rejects with the signal's reason. */
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

  /** Does the work inside; rejects with the signal's reason if that aborts before. */
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
        this.#waiting.remove(priority, waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        enter: () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      this.#waiting.add(priority, waiter);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #admit(): void {
    while (this.#inside < this.#limit) {
      const next = this.#waiting.take();
      if (next === undefined) return;
      this.#inside++;
      next.enter();
    }
  }
}

/** What creates, deletes or initialises is urgent and goes before what merely refreshes, in queues and in calls. */
export type Priority = "high" | "low";

/** So many urgent ones in a row, then one that is not, if one waits: a storm must not starve the others for ever. */
export const HIGH_IN_A_ROW = 4;

/** Those who wait for something: by priority, then in the order of coming. */
export class PriorityLine<Waiter> {
  readonly #waiting: Readonly<Record<Priority, Set<Waiter>>> = { high: new Set(), low: new Set() };
  #highInARow = 0;

  get size(): number {
    return this.#waiting.high.size + this.#waiting.low.size;
  }

  count(priority: Priority): number {
    return this.#waiting[priority].size;
  }

  /** How many go before one that comes now, if nobody comes after it. */
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

  /** The next, who waits no longer. */
  take(): Waiter | undefined {
    const { high, low } = this.#waiting;
    const isLowDue = low.size > 0 && (high.size === 0 || this.#highInARow >= HIGH_IN_A_ROW);
    this.#highInARow = isLowDue || low.size === 0 ? 0 : this.#highInARow + 1;
    const line = isLowDue ? low : high;
    const [next] = line;
    if (next !== undefined) line.delete(next);
    return next;
  }
}
