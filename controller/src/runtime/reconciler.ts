import type { Logger } from "../telemetry/log.ts";
import type { Clock } from "../util/clock.ts";
import { isTerminal, ownDelayMsOf, retryAfterMsOf } from "../util/errors.ts";
import type { Priority } from "../util/semaphore.ts";

export interface ReconcileContext {
  /** `namespace/name`, `name`, or a fixed word for whole-cluster work. */
  readonly key: string;
  readonly priority: Priority;
  /** Aborts when leadership is lost, or when the grace period of a shutdown is over. Passed to every call. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly reconcileID: string;
  readonly failures: number;
}

/** Brings the cluster to the desired state, whatever enqueued the key. Throws to be retried ({@link classify}). */
export interface Reconciler {
  reconcile(context: ReconcileContext): Promise<Result>;
}

/** The steps of a reconcile: `gather` reads, `plan` is pure, `apply` writes. */
export interface Steps<Input, Plan> {
  /** undefined: nothing to do for this key. */
  gather(context: ReconcileContext): Promise<Input | undefined>;
  plan(input: Input, nowMs: number): Plan;
  /** Writes in the order of the plan, and throws the first failure. */
  apply(plan: Plan, context: ReconcileContext): Promise<Result>;
}

export function stepReconciler<Input, Plan>(steps: Steps<Input, Plan>, clock: Clock): Reconciler {
  return {
    reconcile: async (context) => {
      const input = await steps.gather(context);
      if (input === undefined) return DONE;
      return steps.apply(steps.plan(input, clock.nowMs()), context);
    },
  };
}

/** Why a key is requeued or failed: a reason of explain/ and a message. Errors have it in field `why`. */
export interface Why {
  readonly reason: string;
  readonly message: string;
}

/** What a successful reconcile requests from the queue. A failure is thrown. */
export type Result =
  | { readonly kind: "success" }
  | {
      readonly kind: "requeue_after";
      readonly delayMs: number;
      /** What blocks the key; undefined: nothing. */
      readonly why?: Why;
    };

export const DONE: Result = { kind: "success" };

/**
 * Requeues without counting a failure, for periodic work or a slow cloud.
 * @param why what blocks the key
 */
export function requeueAfter(delayMs: number, why?: Why): Result {
  return { kind: "requeue_after", delayMs, ...(why === undefined ? {} : { why }) };
}

/** The result of a reconcile, or its error with the meaning for the queue. */
export type Outcome =
  | Result
  /** Retried with back-off, and not before the delay that the other side requested. */
  | { readonly kind: "error"; readonly error: unknown; readonly atLeastMs?: number }
  /** Retried after the delay that our own rules decided; the failure count is kept. */
  | { readonly kind: "retry_after"; readonly error: unknown; readonly delayMs: number }
  | { readonly kind: "terminal_error"; readonly error: unknown }
  /** An internal error, retried with back-off. */
  | { readonly kind: "panic"; readonly error: unknown }
  /** Its writes are only planned (--mode). Evaluated again later. */
  | { readonly kind: "planned" }
  /** Canceled by shutdown or loss of leadership. */
  | { readonly kind: "aborted" };

/** The meaning of a thrown error for the queue. */
export function classify(error: unknown, signal: AbortSignal): Outcome {
  if (signal.aborted) return { kind: "aborted" };
  if (isTerminal(error)) return { kind: "terminal_error", error };
  const delayMs = ownDelayMsOf(error);
  if (delayMs !== undefined) return { kind: "retry_after", error, delayMs };
  if (isPanic(error)) return { kind: "panic", error };
  const atLeastMs = retryAfterMsOf(error);
  return { kind: "error", error, ...(atLeastMs === undefined ? {} : { atLeastMs }) };
}

/** Errors of JavaScript itself, and values that are not errors. */
function isPanic(error: unknown): boolean {
  return (
    !(error instanceof Error) ||
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  );
}
