/** The urgent go first. */
type Priority = "high" | "low";

interface Waiter {
  readonly enter: () => void;
}

/** Lets at most `limit` in at once; those who wait enter by priority, then in the order of coming. */
export class Semaphore {
  #limit: number;
  #inside = 0;
  readonly #waiting: Readonly<Record<Priority, Set<Waiter>>> = { high: new Set(), low: new Set() };

  constructor(limit: number) {
    this.#limit = limit;
  }

  get inside(): number {
    return this.#inside;
  }

  get waiting(): number {
    return this.#waiting.high.size + this.#waiting.low.size;
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
    else await this.#wait(this.#waiting[priority], signal);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#inside--;
      this.#admit();
    };
  }

  #wait(line: Set<Waiter>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        line.delete(waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        enter: () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      line.add(waiter);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #admit(): void {
    while (this.#inside < this.#limit) {
      const line = this.#waiting.high.size > 0 ? this.#waiting.high : this.#waiting.low;
      const [next] = line;
      if (next === undefined) return;
      line.delete(next);
      this.#inside++;
      next.enter();
    }
  }
}
