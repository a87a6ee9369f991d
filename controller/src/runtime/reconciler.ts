import type { Logger } from "../telemetry/log.ts";
import type { Priority } from "../workqueue/queue.ts";
import type { Result } from "./result.ts";

/** What a reconcile gets besides its key. */
export interface ReconcileContext {
  readonly key: string;
  readonly priority: Priority;
  /** Aborts at shutdown and when leadership is lost. */
  readonly signal: AbortSignal;
  /** Carries controller, key and reconcileId. */
  readonly log: Logger;
  readonly reconcileId: string;
  /** Failures of this key so far. */
  readonly failures: number;
}

/** Brings the world to the state read now, whatever woke it. Throws to be retried (see util/errors.ts). */
export interface Reconciler {
  reconcile(context: ReconcileContext): Promise<Result>;
}

/** The three steps of a reconcile. `plan` is pure; reads belong to `gather`, changes to `apply`. */
export interface Steps<Input, Plan> {
  /** undefined: there is nothing to do for this key. */
  gather(context: ReconcileContext): Promise<Input | undefined>;
  plan(input: Input, nowMs: number): Plan;
  apply(plan: Plan, context: ReconcileContext): Promise<Result>;
}
