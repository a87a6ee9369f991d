/**
 * How an object stands, for people and for filters.
 * - ok: as it is wished, and nothing is under way.
 * - progressing: a change is under way, here or at the cloud; nothing is wrong.
 * - waiting: something that passes by itself holds it up: a back-off, a limit of calls, a provider that starts.
 * - blocked: it does not go on before somebody changes something; the cause says who and what.
 * - unmanaged: none of this program's, by the user's wish or for want of an owner.
 */
export const STATES = ["ok", "progressing", "waiting", "blocked", "unmanaged"] as const;

export type State = (typeof STATES)[number];

/** Why something is as it is: one for a reason that anybody can branch on, one for people. */
export interface Cause {
  /** CamelCase and stable; docs/reference/explain.md has all of them. */
  readonly reason: string;
  /** One or two sentences: what stands in the way. */
  readonly message: string;
  /** What somebody can do about it, as an instruction; absent: nothing needs doing, for it passes by itself or is as wished. */
  readonly remedy?: string;
  /** Path of a page of the documentation, from the top of the repository. */
  readonly documentation?: string;
}

/** The reason of Nodes that the brake of the deletion guard holds, and of providers whose Nodes it holds. */
export const TOO_MANY_NODE_DELETIONS = "TooManyNodeDeletions";

/** The reason of what is neither in the cluster nor remembered: most likely it is called otherwise. */
export const NOT_FOUND = "NotFound";
