import { type Priority, PriorityLine } from "./priority-line.ts";

interface Waiter {
  readonly enter: () => void;
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
