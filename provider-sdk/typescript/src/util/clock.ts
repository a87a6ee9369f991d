import type { Duration } from "@cloudwire/proto/google/protobuf/duration";

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

/** Milliseconds as a protobuf duration. */
export const toDuration = (ms: number): Duration => {
  const wholeMs = Math.round(ms);
  return { seconds: BigInt(Math.trunc(wholeMs / 1_000)), nanos: (wholeMs % 1_000) * 1_000_000 };
};

/** A protobuf duration in milliseconds, or the given value for undefined. */
export const fromDuration = <Fallback>(duration: Duration | undefined, fallback: Fallback): number | Fallback =>
  duration === undefined ? fallback : Number(duration.seconds) * 1_000 + Math.round(duration.nanos / 1_000_000);

/** Calls back again and again, first after one interval; the answer ends that. */
export const every = (clock: Clock, intervalMs: number, callback: () => void): (() => void) => {
  let cancel: () => void;
  const wait = () => {
    cancel = clock.after(intervalMs, () => {
      wait();
      callback();
    });
  };
  wait();
  return () => cancel();
};

/** The outcome of the work, or the signal's reason as soon as it is aborted; the work's late outcome is dropped. */
export const orAborted = <Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> =>
  new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    if (signal.aborted) aborted();
    signal.addEventListener("abort", aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });

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
