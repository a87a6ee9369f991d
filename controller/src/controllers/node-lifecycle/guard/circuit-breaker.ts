export interface CircuitBreaker {
  /** Nodes with an absent instance, and Nodes deleted in the last {@link DELETION_WINDOW_MS}, each once. */
  readonly gone: number;
  /** All Nodes of the provider, including those deleted in the window. */
  readonly nodes: number;
  /** An unknown number of other Nodes may have been deleted. */
  readonly isUnknown: boolean;
  readonly maxPercent: number;
  /** This Node is approved or announced: it neither counts nor is blocked. */
  readonly exempt: boolean;
}

export const DELETION_WINDOW_MS = 600_000;

const WINDOW_MINUTES = DELETION_WINDOW_MS / 60_000;

/** Allowed in a small cluster too, where the percentage is less than one Node. */
const ALWAYS_ALLOWED = 3;

export function deletionLimit({ nodes, maxPercent }: Pick<CircuitBreaker, "nodes" | "maxPercent">): number {
  return Math.max(ALWAYS_ALLOWED, Math.floor((nodes * maxPercent) / 100));
}

/** More Nodes are absent than a cluster usually loses: the cloud's data is probably wrong. An unknown number counts as the whole limit. */
export function isOpen(circuitBreaker: CircuitBreaker): boolean {
  const { gone, nodes, isUnknown } = circuitBreaker;
  const limit = deletionLimit(circuitBreaker);
  return gone > limit || (isUnknown && gone > 0 && limit < nodes);
}

export function openMessage(provider: string, circuitBreaker: CircuitBreaker): string {
  const { gone, nodes, isUnknown } = circuitBreaker;
  const limit = deletionLimit(circuitBreaker);
  const rest =
    isUnknown && gone <= limit
      ? `it is unknown how many were deleted within the last ${WINDOW_MINUTES} minutes, because the annotation of the Lease could not be read`
      : `at most ${limit} are deleted within ${WINDOW_MINUTES} minutes`;
  return `provider ${provider} reports the instances of ${gone} of ${nodes} Nodes as absent, and ${rest}`;
}

/** Nodes deleted at one moment, by the monotonic clock of this process. */
export interface Deletion {
  readonly atMs: number;
  readonly count: number;
}

export interface DeletionWindow {
  readonly deletions: readonly Deletion[];
  /** Monotonic; when earlier deletions were last found to be unknown. */
  readonly unknownAtMs: number | undefined;
}

export const EMPTY_WINDOW: DeletionWindow = { deletions: [], unknownAtMs: undefined };

export function recent({ deletions, unknownAtMs }: DeletionWindow, nowMs: number): DeletionWindow {
  const counts = (atMs: number): boolean => nowMs - atMs < DELETION_WINDOW_MS;
  return {
    deletions: deletions.filter(({ atMs }) => counts(atMs)),
    unknownAtMs: unknownAtMs !== undefined && counts(unknownAtMs) ? unknownAtMs : undefined,
  };
}

export function total(deletions: readonly Deletion[]): number {
  return deletions.reduce((sum, { count }) => sum + count, 0);
}

/** Merges two incomplete records of the same deletions: since each moment, at least the greater count was deleted. */
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
