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
  | { readonly kind: "done" }
  | {
      readonly kind: "requeueAfter";
      readonly delayMs: number;
      /** What stands in the way; undefined: nothing does. */
      readonly why?: Why;
    };

/** The world is as wished; nothing to do until something changes. */
export const DONE: Result = { kind: "done" };

/**
 * Come back in `delayMs` without counting a failure: periodic work, or a cloud that is not ready yet.
 * @param why where something stands in the way
 */
export function requeueAfter(delayMs: number, why?: Why): Result {
  return { kind: "requeueAfter", delayMs, ...(why === undefined ? {} : { why }) };
}

/** How one reconcile ended: its Result, or the error it threw with what that error means for the queue. */
export type Outcome =
  | Result
  /** Retried with the key's back-off. */
  | { readonly kind: "failed"; readonly error: unknown }
  /** Retried after exactly the wait that the error asked for; the failure count stays. */
  | { readonly kind: "heldOff"; readonly error: unknown; readonly delayMs: number }
  /** Not retried until something changes. */
  | { readonly kind: "terminal"; readonly error: unknown }
  /** A fault of this program: counted apart, retried with back-off. */
  | { readonly kind: "panicked"; readonly error: unknown }
  /** It came to a write, which is only planned where it is observed (--mode). Looked at again after a while. */
  | { readonly kind: "planned" }
  /** Shutdown or lost leadership cut it short. */
  | { readonly kind: "aborted" };
