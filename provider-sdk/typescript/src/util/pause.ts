import type { Clock } from "./clock.ts";

/** Resolves after this time; rejects with the signal's reason as soon as it is aborted. */
export const pause = (delayMs: number, signal: AbortSignal, clock: Clock): Promise<void> =>
  new Promise((resolve, reject) => {
    const finish = (settle: () => void) => () => {
      cancel();
      signal.removeEventListener("abort", aborted);
      settle();
    };
    const aborted = finish(() => reject(signal.reason));
    const cancel = clock.after(delayMs, finish(resolve));
    signal.addEventListener("abort", aborted, { once: true });
    if (signal.aborted) aborted();
  });
