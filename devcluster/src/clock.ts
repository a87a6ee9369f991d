/** Time for everything that waits or records a time; tests move a fake one by hand. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Calls back once after a delay, unless the returned function was called before. */
  readonly after: (delayMs: number, callback: () => void) => () => void;
}

/** The machine's clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
