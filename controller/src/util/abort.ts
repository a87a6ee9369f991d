import type { Clock } from "./clock.ts";
import { systemClock } from "./clock.ts";

/** A wait or call was given up because its time was over. */
export class DeadlineError extends Error {
  readonly code = "DEADLINE";
  readonly timeoutMs: number;

  constructor(what: string, timeoutMs: number) {
    super(`${what}: no answer within ${timeoutMs} ms`);
    this.name = "DeadlineError";
    this.timeoutMs = timeoutMs;
  }
}

/** A signal with an owner: disposing it takes its timer and its listener on the parent away. */
export interface OwnedSignal extends Disposable {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
}

/** Aborts when `parent` does. Unlike AbortSignal.any it leaves nothing behind on a parent that lives as long as the process. */
export function childSignal(parent: AbortSignal): OwnedSignal {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(parent.reason);
  if (parent.aborted) onAbort();
  else parent.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    [Symbol.dispose]: () => parent.removeEventListener("abort", onAbort),
  };
}

/** Many short-lived signals below one that lives long. */
export interface SignalFan extends Disposable {
  /** {@link childSignal} of the parent. */
  child(): OwnedSignal;
}

/**
 * A signal's listeners are a list that is walked with each that comes or goes: a thousand pieces of work that listen to one signal cost
 * a thousand steps each. Here the parent has one listener.
 */
export function signalFan(parent: AbortSignal): SignalFan {
  const children = new Set<AbortController>();
  const onAbort = (): void => {
    for (const child of children) child.abort(parent.reason);
  };
  parent.addEventListener("abort", onAbort, { once: true });
  return {
    child: () => {
      const controller = new AbortController();
      if (parent.aborted) controller.abort(parent.reason);
      else children.add(controller);
      return {
        signal: controller.signal,
        abort: (reason) => controller.abort(reason),
        [Symbol.dispose]: () => void children.delete(controller),
      };
    },
    [Symbol.dispose]: () => parent.removeEventListener("abort", onAbort),
  };
}

/** Aborts when `parent` does, or with a {@link DeadlineError} about `what` after `timeoutMs`. */
export function deadlineSignal(
  parent: AbortSignal,
  timeoutMs: number,
  what: string,
  clock: Clock = systemClock(),
): OwnedSignal {
  const child = childSignal(parent);
  const timer = clock.schedule(timeoutMs, () => child.abort(new DeadlineError(what, timeoutMs)));
  return {
    signal: child.signal,
    abort: (reason) => child.abort(reason),
    [Symbol.dispose]: () => {
      timer.cancel();
      child[Symbol.dispose]();
    },
  };
}

/** Resolves after `delayMs`; rejects with the signal's reason when it aborts first. */
export function sleep(delayMs: number, signal: AbortSignal, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(asError(signal.reason));
    const onAbort = (): void => {
      timer.cancel();
      reject(asError(signal.reason));
    };
    const timer = clock.schedule(delayMs, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** Resolves when `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Settles as `promise` does, or rejects with the signal's reason if that aborts first. The promise itself goes on. */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => undefined);
    return Promise.reject(asError(signal.reason));
  }
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(asError(signal.reason));
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
