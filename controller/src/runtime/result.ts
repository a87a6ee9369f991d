/** What a reconcile that did not fail wants of the queue. Failure is a throw. */
export type Result = { readonly kind: "done" } | { readonly kind: "requeueAfter"; readonly delayMs: number };

/** The world is as wished; nothing to do until something changes. */
export const DONE: Result = { kind: "done" };

/** Come back in `delayMs` without counting a failure: periodic work, or a cloud that is not ready yet. */
export function requeueAfter(delayMs: number): Result {
  return { kind: "requeueAfter", delayMs };
}
