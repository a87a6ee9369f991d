import type { CheckContext } from "../../suite/check.ts";
import { fail } from "../../suite/expect.ts";

/** What is measured, and what it may take. */
export interface Measure {
  readonly calls: number;
  readonly thresholdMs: number;
}

/** A machine that is busy with something else gets more chances; a provider that is slow needs none. */
const rounds = 3;

/** Begins to count the milliseconds in which the kit had nothing to do but wait: what it takes for itself is no fault of the provider's. */
export const waitingTime = (): (() => number) => {
  const startMs = performance.now();
  const before = performance.eventLoopUtilization();
  return () => performance.now() - startMs - performance.eventLoopUtilization(before).active;
};

/** Fails unless, in the best of three rounds, 99 of 100 calls stay below the threshold. A round ends when too many did not. */
export const fastest = async (context: CheckContext, measure: Measure, call: () => Promise<void>): Promise<void> => {
  const thresholdMs = measure.thresholdMs * context.slowFactor;
  let bestMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds && bestMs >= thresholdMs; round++)
    bestMs = Math.min(bestMs, await percentile99(measure.calls, thresholdMs, call));
  if (bestMs >= thresholdMs)
    fail({
      message: `the best of ${rounds} rounds of ${measure.calls} calls is too slow`,
      expected: `99 of 100 calls below ${thresholdMs} ms`,
      got: `${bestMs.toFixed(1)} ms`,
    });
};

const percentile99 = async (calls: number, thresholdMs: number, call: () => Promise<void>): Promise<number> => {
  const slowest = calls - Math.ceil(calls * 0.99);
  const slow: number[] = [];
  for (let index = 0; index < calls && slow.length <= slowest; index++) {
    const waitedMs = waitingTime();
    await call();
    const elapsedMs = waitedMs();
    if (elapsedMs >= thresholdMs) slow.push(elapsedMs);
  }
  // Of those that are too slow, the least: the others are the hundredth part that may be.
  return slow.length > slowest ? Math.min(...slow) : 0;
};
