import { type Clock, wait } from "./clock.ts";

/** Wakes those who wait for any change of any resource. */
export class Notifier {
  readonly #waiting = new Set<() => void>();

  /** Cheap; may be called in the middle of a transaction: those woken run later. */
  changed(): void {
    if (this.#waiting.size === 0) return;
    const woken = [...this.#waiting];
    this.#waiting.clear();
    queueMicrotask(() => {
      for (const wake of woken) wake();
    });
  }

  /** Calls back at the next change, once. The returned function takes that back. */
  onNext(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  /** Resolves at the next change, when the time is up, or when the signal aborts. */
  async next(clock: Clock, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const forget = this.onNext(() => {
      over.abort();
    });
    await wait(clock, timeoutMs, AbortSignal.any([over.signal, signal]));
    forget();
  }
}
