import type { Logger } from "../telemetry/log.ts";
import type { Clock } from "../util/clock.ts";
import type { Priority } from "../util/priority-line.ts";
import { DONE, type Result } from "./result.ts";

/** What a reconcile gets besides its key. */
export interface ReconcileContext {
  /** `namespace/name`, `name`, or a fixed word for whole-cluster work. */
  readonly key: string;
  readonly priority: Priority;
  /** Aborts when leadership is lost, or when the grace time of a shutdown is over. Handed to every call. */
  readonly signal: AbortSignal;
  /** Carries controller, key and reconcileId. */
  readonly log: Logger;
  readonly reconcileId: string;
  /** Failures of this key in a row so far. */
  readonly failures: number;
}

/** Brings the world to the state read now, whatever woke it. Throws to be retried (util/errors.ts, runtime/outcome.ts). */
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
