import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../util/clock.ts";

/** A clock that stands still until a test moves it. Give it to `StartOptions.clock` and to the fake cloud. */
export interface TestClock extends Clock {
  /**
   * Moves time on and calls back what becomes due on the way, in order and each at its own moment. Between two moments everything that
   * is ready to run gets its turn, so that a timer set in answer to another is met too. Work over a network may take longer: wait for what
   * it brings about.
   */
  readonly advance: (ms: number) => Promise<void>;
  /**
   * Lets time run, twenty times as fast as real time, until a promise has settled: for calls that wait by themselves, as before
   * a retry of a failed request.
   */
  readonly runUntil: <Result>(promise: Promise<Result>) => Promise<Result>;
  /** How many callbacks wait for their moment. */
  readonly pendingTimers: () => number;
}

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

const stepMs = 100;
const machineStepMs = 5;

/** Makes a clock that begins at `startMs`, by default at the moment of the call. */
export const createTestClock = (startMs: number = Date.now()): TestClock => {
  const timers = new Set<Timer>();
  let nowMs = startMs;
  const nextDue = (untilMs: number): Timer | undefined =>
    [...timers].filter(({ dueMs }) => dueMs <= untilMs).toSorted((left, right) => left.dueMs - right.dueMs)[0];
  const advance = async (ms: number): Promise<void> => {
    const untilMs = nowMs + ms;
    await turn();
    for (let due = nextDue(untilMs); due; due = nextDue(untilMs)) {
      timers.delete(due);
      nowMs = Math.max(nowMs, due.dueMs);
      due.callback();
      await turn();
    }
    nowMs = Math.max(nowMs, untilMs);
    await turn();
  };
  return {
    nowMs: () => nowMs,
    after: (delayMs, callback) => {
      const timer = { dueMs: nowMs + Math.max(0, delayMs), callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance,
    runUntil: async (promise) => {
      const settled = promise.then(
        () => true,
        () => true,
      );
      while (!(await Promise.race([settled, sleep(machineStepMs, false)]))) await advance(stepMs);
      return promise;
    },
    pendingTimers: () => timers.size,
  };
};

/** Everything that is ready runs, promises that wait for promises included. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
