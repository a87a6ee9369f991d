import { BRAKE_WINDOW_MS } from "./circuit-breaker.ts";

/** Nodes that went at one moment, by the monotonic clock of this process. */
export interface Deletion {
  readonly atMs: number;
  readonly count: number;
}

/** What is known of the Nodes of one provider that went. */
export interface DeletionWindow {
  readonly deletions: readonly Deletion[];
  /** Monotonic; when it was last found that nobody knows what went before. */
  readonly unknownAtMs: number | undefined;
}

export const EMPTY_WINDOW: DeletionWindow = { deletions: [], unknownAtMs: undefined };

/** Without what is too old to count. */
export function recent({ deletions, unknownAtMs }: DeletionWindow, nowMs: number): DeletionWindow {
  const counts = (atMs: number): boolean => nowMs - atMs < BRAKE_WINDOW_MS;
  return {
    deletions: deletions.filter(({ atMs }) => counts(atMs)),
    unknownAtMs: unknownAtMs !== undefined && counts(unknownAtMs) ? unknownAtMs : undefined,
  };
}

/** How many there are. */
export function total(deletions: readonly Deletion[]): number {
  return deletions.reduce((sum, { count }) => sum + count, 0);
}

/**
 * What two accounts of the same deletions come to, each of which may lack some: since no moment went fewer than either says. What both
 * have counts once.
 */
export function merged(left: readonly Deletion[], right: readonly Deletion[]): readonly Deletion[] {
  const moments = [...new Set([...left, ...right].map(({ atMs }) => atMs))].toSorted((a, b) => b - a);
  let younger = 0;
  return moments.flatMap((atMs) => {
    const since = Math.max(countSince(left, atMs), countSince(right, atMs));
    const count = since - younger;
    younger = since;
    return count === 0 ? [] : [{ atMs, count }];
  });
}

function countSince(deletions: readonly Deletion[], sinceMs: number): number {
  return total(deletions.filter(({ atMs }) => atMs >= sinceMs));
}
