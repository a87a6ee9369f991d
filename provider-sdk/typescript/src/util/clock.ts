/** Time as a provider reads it and waits for it: the system's, or one that a test moves by hand. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Calls back once after this many milliseconds; the answer cancels that, and may be called at any time. */
  readonly after: (delayMs: number, callback: () => void) => () => void;
}

/** Longest wait of Node's timers, 24.8 days: what is longer would be over at once. */
const maxTimerMs = 2 ** 31 - 1;

/** The clock of the machine. Its timers keep no process alive: the server's sockets do. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), maxTimerMs)).unref();
    return () => clearTimeout(timer);
  },
};
