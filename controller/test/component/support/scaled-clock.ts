import type { Clock } from "../../../src/util/clock.ts";
import { systemClock } from "../../../src/util/clock.ts";

/**
 * Real time that runs `factor` times as fast: for loops over real sockets, whose waits of seconds a test should see in full and not
 * sit out.
 */
export function scaledClock(factor: number): Clock {
  const real = systemClock();
  const startMs = real.nowMs();
  const monotonicStartMs = real.monotonicMs();
  const sinceStartMs = (): number => (real.monotonicMs() - monotonicStartMs) * factor;
  return {
    nowMs: () => startMs + sinceStartMs(),
    monotonicMs: sinceStartMs,
    schedule: (delayMs, run) => real.schedule(delayMs / factor, run),
  };
}
