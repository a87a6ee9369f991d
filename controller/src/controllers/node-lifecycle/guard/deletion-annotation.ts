import { isRecord } from "../../../util/json.ts";
import type { Deletion, DeletionWindow } from "./circuit-breaker.ts";

/** What the annotation of one provider records. */
export interface RecordedDeletions extends DeletionWindow {
  /** Nodes that are deleted as soon as the annotation is written. */
  readonly announced: number;
}

export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** Ages are rounded down to steps of this, so that the annotation stays small: a deletion may count longer, but not shorter. */
const STEP_MS = 5000;

/** Four times the longest value that {@link formatAnnotation} writes. */
const MAX_LENGTH = 8192;

const MAX_COUNT = 1_000_000;

/**
 * The deletions for other processes, as ages at the time of writing: readers count on by their own clock, so that the clocks need not
 * agree. `time` makes each value unique. undefined: there are none.
 */
export function formatAnnotation(
  { deletions, unknownAtMs, announced }: RecordedDeletions,
  { monotonicMs, wallMs }: Moment,
): string | undefined {
  const secondsAgo = new Map<number, number>();
  const add = (atMs: number, count: number): void => {
    const seconds = steppedSeconds(monotonicMs - atMs);
    secondsAgo.set(seconds, (secondsAgo.get(seconds) ?? 0) + count);
  };
  for (const { atMs, count } of deletions) add(atMs, count);
  if (announced > 0) add(monotonicMs, announced);
  if (secondsAgo.size === 0 && unknownAtMs === undefined) return undefined;
  return JSON.stringify({
    time: new Date(wallMs).toISOString(),
    secondsAgo: Object.fromEntries(secondsAgo),
    ...(unknownAtMs === undefined ? {} : { unknownSecondsAgo: steppedSeconds(monotonicMs - unknownAtMs) }),
  });
}

/** Reads an annotation as of the moment when it was first seen. undefined: invalid, or of a newer version. */
export function parseAnnotation(text: string, monotonicMs: number): DeletionWindow | undefined {
  const value = parseJson(text);
  if (!isRecord(value) || typeof value["time"] !== "string" || !isRecord(value["secondsAgo"])) return undefined;
  const deletions: Deletion[] = [];
  for (const [seconds, count] of Object.entries(value["secondsAgo"])) {
    if (!/^\d{1,5}$/.test(seconds) || !isCount(count)) return undefined;
    deletions.push({ atMs: monotonicMs - Number(seconds) * 1000, count });
  }
  const unknown = value["unknownSecondsAgo"];
  if (unknown === undefined) return { deletions, unknownAtMs: undefined };
  if (typeof unknown !== "number" || unknown < 0) return undefined;
  return { deletions, unknownAtMs: monotonicMs - unknown * 1000 };
}

function steppedSeconds(ageMs: number): number {
  return (Math.floor(Math.max(ageMs, 0) / STEP_MS) * STEP_MS) / 1000;
}

function parseJson(text: string): unknown {
  if (text.length > MAX_LENGTH) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= MAX_COUNT;
}
