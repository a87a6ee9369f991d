/** Time as an argument, so that tests move it by hand. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. For what is shown or sent. */
  nowMs(): number;
  /** Never jumps back. For measuring how long something took or lasted. */
  monotonicMs(): number;
  /** Calls `run` once after `delayMs`. The timer never keeps the process alive by itself when `unref` is set. */
  schedule(delayMs: number, run: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** A number in [0, 1). Injected so that jitter is repeatable in tests. */
export type Random = () => number;

/** setTimeout fires at once above this (2^31 - 1). */
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
