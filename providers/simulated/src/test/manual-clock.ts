import type { Clock } from "../cloud/clock.ts";

/** A clock that a test moves by hand. */
export interface ManualClock extends Clock {
  /** Moves on, running what becomes due on the way, in order. */
  readonly advance: (durationMs: number) => void;
}

export function manualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  let nowMs = startMs;
  let timers: { readonly dueMs: number; readonly run: () => void }[] = [];
  const after: Clock["after"] = (delayMs, run) => {
    const timer = { dueMs: nowMs + delayMs, run };
    timers.push(timer);
    return () => {
      timers = timers.filter((other) => other !== timer);
    };
  };
  const advance = (durationMs: number): void => {
    const endMs = nowMs + durationMs;
    for (;;) {
      const [next] = timers.filter(({ dueMs }) => dueMs <= endMs).toSorted((left, right) => left.dueMs - right.dueMs);
      if (!next) break;
      timers = timers.filter((other) => other !== next);
      nowMs = Math.max(nowMs, next.dueMs);
      next.run();
    }
    nowMs = endMs;
  };
  return { now: () => nowMs, after, advance };
}
