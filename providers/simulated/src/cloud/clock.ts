/** Time as the cloud sees it; a test passes its own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Runs once after the delay, unless the returned function is called before. */
  readonly after: (delayMs: number, run: () => void) => () => void;
}

/** setTimeout fires at once for longer delays. */
const maxTimerMs = 2 ** 31 - 1;

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, Math.min(delayMs, maxTimerMs));
    return () => {
      clearTimeout(timer);
    };
  },
};

/** Resolves after the delay, or as soon as the signal aborts: the caller looks at the signal. */
export const wait = async (clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> => {
  if (delayMs <= 0 || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      signal.removeEventListener("abort", finish);
      cancel();
      resolve();
    };
    const cancel = clock.after(delayMs, finish);
    signal.addEventListener("abort", finish);
  });
};
