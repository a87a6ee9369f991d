/** Passed as an argument, so that tests control time. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch: for display and messages. */
  nowMs(): number;
  /** Never jumps back: for durations. */
  monotonicMs(): number;
  /** Calls `run` once after `delayMs`. */
  schedule(delayMs: number, run: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** A number in [0, 1). Injected so that jitter is repeatable in tests. */
export type Random = () => number;

/** setTimeout fires immediately above this (2^31 - 1). */
const MAX_TIMER_MS = 2_147_483_647;

/** The process' clock. */
export function systemClock(): Clock {
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    schedule: (delayMs, run) => scheduleLong(delayMs, run),
  };
}

function scheduleLong(delayMs: number, run: () => void): Timer {
  let handle: NodeJS.Timeout;
  const arm = (leftMs: number): void => {
    const stepMs = Math.min(Math.max(leftMs, 0), MAX_TIMER_MS);
    handle = setTimeout(() => (leftMs > MAX_TIMER_MS ? arm(leftMs - stepMs) : run()), stepMs);
  };
  arm(delayMs);
  return { cancel: () => clearTimeout(handle) };
}
