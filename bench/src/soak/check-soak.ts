import { median, type Point, slope } from "../lib/statistics.ts";

/** How a series went, from the first moment that counts to the last. */
export interface Trend {
  readonly from: number;
  readonly to: number;
  /** Along the robust line through all points, over the whole time. */
  readonly growth: number;
  readonly minutes: number;
}

/** Processes fill caches and grow heaps when they are young: so much of a life does not count. */
const WARM_UP_SHARE = 1 / 3;

/** A shorter time shows the sawtooth of the garbage collector, and connections opened late, but no trend. */
const LEAST_MINUTES = 8;

const MAX_MEMORY_GROWTH = 0.05;

/** Longer than from one garbage collection to the next. */
const TROUGH_SECONDS = 120;

/** One more connection or helper thread opened late is no leak; a leak does not stay below this for long. */
const MAX_COUNT_GROWTH = 1;

/** What is left of a life once the warm-up is over. */
export function afterWarmUp(points: readonly Point[]): readonly Point[] {
  const [first, last] = [points[0]?.seconds ?? 0, points.at(-1)?.seconds ?? 0];
  const fromSeconds = first + (last - first) * WARM_UP_SHARE;
  return points.filter(({ seconds }) => seconds >= fromSeconds);
}

/** The least of each stretch of time: of a heap, what was left by a garbage collection. */
export function troughs(points: readonly Point[]): readonly Point[] {
  const stretches = Map.groupBy(points, ({ seconds }) => Math.floor(seconds / TROUGH_SECONDS));
  return [...stretches.values()].flatMap((stretch) =>
    stretch.toSorted((left, right) => left.value - right.value).slice(0, 1),
  );
}

export function trendOf(points: readonly Point[]): Trend {
  const seconds = (points.at(-1)?.seconds ?? 0) - (points[0]?.seconds ?? 0);
  const growth = slope(points) * seconds;
  const middle = median(points.map(({ value }) => value));
  return { from: middle - growth / 2, to: middle + growth / 2, growth, minutes: seconds / 60 };
}

export type TrendResult =
  | { readonly kind: "flat" }
  | { readonly kind: "grows"; readonly why: string }
  | { readonly kind: "tooShort" };

/** RSS and the like, in bytes. */
export function checkMemory(trend: Trend): TrendResult {
  if (trend.minutes < LEAST_MINUTES) return { kind: "tooShort" };
  const share = trend.growth / trend.from;
  if (share < MAX_MEMORY_GROWTH) return { kind: "flat" };
  return {
    kind: "grows",
    why: `by ${percent(share)} in ${trend.minutes.toFixed(0)} min, ${percent(MAX_MEMORY_GROWTH)} are allowed`,
  };
}

/** Descriptors, threads: things that are counted. */
export function checkCount(trend: Trend): TrendResult {
  if (trend.minutes < LEAST_MINUTES) return { kind: "tooShort" };
  if (trend.growth < MAX_COUNT_GROWTH) return { kind: "flat" };
  return { kind: "grows", why: `by ${trend.growth.toFixed(1)} in ${trend.minutes.toFixed(1)} min` };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
