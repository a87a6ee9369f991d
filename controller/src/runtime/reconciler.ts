import type { Logger } from "../telemetry/log.ts";
import type { Clock } from "../util/clock.ts";
import { isTerminal, retryAfterMsOf } from "../util/errors.ts";
import type { Priority } from "../util/semaphore.ts";

/** What a reconcile gets besides its key. */
export interface ReconcileContext {
  /** `namespace/name`, `name`, or a fixed word for whole-cluster work. */
  readonly key: string;
  readonly priority: Priority;
  /** Aborts when leadership is lost, or when the grace time of a shutdown is over. Handed to every call. */
  readonly signal: AbortSignal;
  /** Carries controller, key and reconcileID. */
  readonly log: Logger;
  readonly reconcileID: string;
  /** Failures of this key in a row so far. */
  readonly failures: number;
}

/** Brings the world to the state read now, whatever woke it. Throws to be retried (util/errors.ts, {@link classify}). */
export interface Reconciler {
  reconcile(context: ReconcileContext): Promise<Result>;
}

/** The three steps of a reconcile. `plan` is pure; reads belong to `gather`, changes to `apply`. */
export interface Steps<Input, Plan> {
  /** undefined: there is nothing to do for this key. */
  gather(context: ReconcileContext): Promise<Input | undefined>;
  plan(input: Input, nowMs: number): Plan;
  /** Writes in the plan's order; stops at the first failure and throws it. */
  apply(plan: Plan, context: ReconcileContext): Promise<Result>;
}

/** A reconciler that runs the three steps one after the other. */
export function stepReconciler<Input, Plan>(steps: Steps<Input, Plan>, clock: Clock): Reconciler {
  return {
    reconcile: async (context) => {
      const input = await steps.gather(context);
      if (input === undefined) return DONE;
      return steps.apply(steps.plan(input, clock.nowMs()), context);
    },
  };
}

/**
 * Why a key comes back, or why something was thrown: a word that explain (explain/) knows, and a sentence for people. Errors say it in a
 * field `why`.
 */
export interface Why {
  readonly reason: string;
  readonly message: string;
}

/** What a reconcile that did not fail wants of the queue. Failure is a throw. */
export type Result =
  | { readonly kind: "success" }
  | {
      readonly kind: "requeue_after";
      readonly delayMs: number;
      /** What stands in the way; undefined: nothing does. */
      readonly why?: Why;
    };

/** The world is as wished; nothing to do until something changes. */
export const DONE: Result = { kind: "success" };

/**
 * Come back in `delayMs` without counting a failure: periodic work, or a cloud that is not ready yet.
 * @param why where something stands in the way
 */
export function requeueAfter(delayMs: number, why?: Why): Result {
  return { kind: "requeue_after", delayMs, ...(why === undefined ? {} : { why }) };
}

/** How one reconcile ended: its Result, or the error it threw with what that error means for the queue. */
export type Outcome =
  | Result
  /** Retried with the key's back-off. */
  | { readonly kind: "error"; readonly error: unknown }
  /** Retried after exactly the wait that the error asked for; the failure count stays. */
  | { readonly kind: "retry_after"; readonly error: unknown; readonly delayMs: number }
  /** Not retried until something changes. */
  | { readonly kind: "terminal_error"; readonly error: unknown }
  /** A fault of this program: counted apart, retried with back-off. */
  | { readonly kind: "panic"; readonly error: unknown }
  /** It came to a write, which is only planned where it is observed (--mode). Looked at again after a while. */
  | { readonly kind: "planned" }
  /** Shutdown or lost leadership cut it short. */
  | { readonly kind: "aborted" };

/** What a thrown error means. The only place that decides. */
export function classify(error: unknown, signal: AbortSignal): Outcome {
  if (signal.aborted) return { kind: "aborted" };
  if (isTerminal(error)) return { kind: "terminal_error", error };
  const delayMs = retryAfterMsOf(error);
  if (delayMs !== undefined) return { kind: "retry_after", error, delayMs };
  return isFault(error) ? { kind: "panic", error } : { kind: "error", error };
}

/** What JavaScript itself throws, or something that is no Error at all, was not meant by anybody. */
function isFault(error: unknown): boolean {
  return (
    !(error instanceof Error) ||
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  );
}
