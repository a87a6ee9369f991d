/** How many of one provider's Nodes go the same way, and how many may. */
export interface CircuitBreaker {
  /** Nodes whose machine is said to be absent, and Nodes deleted in the last {@link DELETION_WINDOW_MS}, each once. */
  readonly gone: number;
  /** All Nodes of the provider, those deleted in the window included. */
  readonly nodes: number;
  /** Others may have been deleted of which nothing is known. */
  readonly isUnknown: boolean;
  readonly maxPercent: number;
  /** This Node neither counts nor is held: it was released, or somebody announced that it goes. */
  readonly exempt: boolean;
}

export const DELETION_WINDOW_MS = 600_000;

const WINDOW_MINUTES = DELETION_WINDOW_MS / 60_000;

/** So many may always go: a share of a small cluster is less than one Node. */
const ALWAYS = 3;

export function deletionLimit({ nodes, maxPercent }: Pick<CircuitBreaker, "nodes" | "maxPercent">): number {
  return Math.max(ALWAYS, Math.floor((nodes * maxPercent) / 100));
}

/**
 * More Nodes go at once than a cluster loses in the ordinary course of things: more likely the cloud's answers are wrong. What is unknown
 * counts as all that may go, where there is a brake at all.
 */
export function isOpen(brake: CircuitBreaker): boolean {
  const { gone, nodes, isUnknown } = brake;
  const limit = deletionLimit(brake);
  return gone > limit || (isUnknown && gone > 0 && limit < nodes);
}

export function openMessage(provider: string, brake: CircuitBreaker): string {
  const { gone, nodes, isUnknown } = brake;
  const limit = deletionLimit(brake);
  const rest =
    isUnknown && gone <= limit
      ? `it is not known how many went within the last ${WINDOW_MINUTES} minutes, for the note on the Lease could not be read`
      : `at most ${limit} go within ${WINDOW_MINUTES} minutes`;
  return `provider ${provider} calls the machines of ${gone} of ${nodes} Nodes absent, and ${rest}`;
}

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
  const counts = (atMs: number): boolean => nowMs - atMs < DELETION_WINDOW_MS;
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
