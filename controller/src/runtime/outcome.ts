import { isTerminal, retryAfterMsOf } from "../util/errors.ts";
import type { Workqueue } from "../workqueue/queue.ts";
import type { Priority } from "../util/priority-line.ts";
import type { Outcome } from "./result.ts";

/** What somebody else may have written meanwhile, at the cloud above all, wakes nobody. */
const PLAN_AGAIN_MS = 30_000;

/** What a thrown error means. The only place that decides. */
export function classify(error: unknown, signal: AbortSignal): Outcome {
  if (signal.aborted) return { kind: "aborted" };
  if (isTerminal(error)) return { kind: "terminal", error };
  const delayMs = retryAfterMsOf(error);
  if (delayMs !== undefined) return { kind: "heldOff", error, delayMs };
  return isFault(error) ? { kind: "panicked", error } : { kind: "failed", error };
}

/** The only switch from the end of a reconcile to the queue. */
export function settle(queue: Workqueue, key: string, priority: Priority, outcome: Outcome): void {
  switch (outcome.kind) {
    case "done":
    case "terminal":
      return queue.forget(key);
    case "requeueAfter":
      queue.forget(key);
      return queue.addAfter(key, outcome.delayMs, { priority: "low" });
    case "heldOff":
      return queue.addAfter(key, outcome.delayMs, { priority });
    case "failed":
    case "panicked":
      queue.addRateLimited(key, { priority });
      return;
    case "planned":
      queue.forget(key);
      return queue.addAfter(key, PLAN_AGAIN_MS, { priority: "low" });
    case "aborted":
      return;
    default:
      outcome satisfies never;
  }
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
