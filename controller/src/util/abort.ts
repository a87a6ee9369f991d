import type { Clock } from "./clock.ts";
import { systemClock } from "./clock.ts";

/** A wait or call exceeded its deadline. */
export class DeadlineError extends Error {
  readonly code = "DEADLINE_EXCEEDED";
  override readonly name = "DeadlineError";
  readonly timeoutMs: number;

  constructor(what: string, timeoutMs: number) {
    super(`${what}: no response within ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}

/** A signal with an owner: disposing it removes its timer and its listener on the parent. */
export interface OwnedSignal extends Disposable {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
}

function owned(controller: AbortController, dispose: () => void): OwnedSignal {
  return { signal: controller.signal, abort: (reason) => controller.abort(reason), [Symbol.dispose]: dispose };
}

/** Aborts when `parent` does. Unlike AbortSignal.any it leaves nothing behind on a parent that lives as long as the process. */
export function childSignal(parent: AbortSignal): OwnedSignal {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(parent.reason);
  if (parent.aborted) onAbort();
  else parent.addEventListener("abort", onAbort, { once: true });
  return owned(controller, () => parent.removeEventListener("abort", onAbort));
}

/** Many short-lived signals below one that lives long. */
export interface SignalFan extends Disposable {
  /** {@link childSignal} of the parent. */
  child(): OwnedSignal;
}

/** A signal walks the list of its listeners whenever one is added or removed: many children share one listener here. */
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
      return owned(controller, () => void children.delete(controller));
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
  const dispose = (): void => {
    timer.cancel();
    child[Symbol.dispose]();
  };
  return { ...child, [Symbol.dispose]: dispose };
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

/** Settles as `promise` does, or rejects with the signal's reason if it aborts first. The work behind `promise` continues. */
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
