import { isRecord } from "../../../util/json.ts";
import type { Deletion, DeletionWindow } from "./circuit-breaker.ts";

/** What is written of one provider's deletions. */
export interface RecordedDeletions extends DeletionWindow {
  /** Nodes that go as soon as this is written. */
  readonly announced: number;
}

/** One moment by the clocks of this process. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** Ages are reported in such steps, rounded down, so that a note stays small however many Nodes went: rather longer than too short. */
const STEP_MS = 5000;

/** The greatest that {@link formatAnnotation} writes is a quarter of this. */
const MAX_LENGTH = 8192;

/** More Nodes than there are in any cluster. */
const MAX_COUNT = 1_000_000;

/**
 * The deletions as others will read them: how long ago, as of the moment when it is written. Whoever reads it counts on by its own
 * clock, so that clocks of machines need not agree. `time` is informational and tells one annotation from the next. undefined: none.
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

/** What a note says, as of the moment when it was first seen. undefined: it is none, or none that this version understands. */
export function parseAnnotation(text: string, monotonicMs: number): DeletionWindow | undefined {
  const note = parseJson(text);
  if (!isRecord(note) || typeof note["time"] !== "string" || !isRecord(note["secondsAgo"])) return undefined;
  const deletions: Deletion[] = [];
  for (const [seconds, count] of Object.entries(note["secondsAgo"])) {
    if (!/^\d{1,5}$/.test(seconds) || !isCount(count)) return undefined;
    deletions.push({ atMs: monotonicMs - Number(seconds) * 1000, count });
  }
  const unknown = note["unknownSecondsAgo"];
  if (unknown === undefined) return { deletions, unknownAtMs: undefined };
  return isAge(unknown) ? { deletions, unknownAtMs: monotonicMs - unknown * 1000 } : undefined;
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

function isAge(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}
