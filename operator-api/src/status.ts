/**
 * - ok: matches its spec; no changes in progress.
 * - progressing: a change is in progress, in the controller or in the cloud.
 * - waiting: waits on a temporary condition, such as a back-off, a rate limit or a starting provider.
 * - blocked: needs manual intervention; the first cause explains it.
 * - unmanaged: not managed by this controller, on purpose or because it has no owner.
 */
export const STATES = ["ok", "progressing", "waiting", "blocked", "unmanaged"] as const;

export type State = (typeof STATES)[number];

export interface Cause {
  /** CamelCase; docs/reference/explain.md lists all. */
  readonly reason: string;
  /** One or two sentences. */
  readonly message: string;
  /** Instruction for the operator; absent: no action needed. */
  readonly remedy?: string;
  /** Path of a documentation page in the repository. */
  readonly documentation?: string;
}

/** Reason of Nodes that the deletion circuit breaker blocks, and of their provider. */
export const TOO_MANY_NODE_DELETIONS = "TooManyNodeDeletions";

/** Reason of an object that does not exist and has no history. */
export const NOT_FOUND = "NotFound";
