/** A value and when it was seen. */
export interface Point {
  readonly seconds: number;
  readonly value: number;
}

/** NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The least value that so large a share of all does not exceed; NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/**
 * Growth a second by Theil and Sen: the median of the slopes between all pairs of points. Up to 29 % of the points may be anything
 * at all without moving it, so neither a spike nor the sawtooth of a garbage collector is taken for growth. 0 of fewer than two points.
 */
export function slope(points: readonly Point[]): number {
  const slopes = points.flatMap((from, index) =>
    points
      .slice(index + 1)
      .filter((to) => to.seconds !== from.seconds)
      .map((to) => (to.value - from.value) / (to.seconds - from.seconds)),
  );
  return slopes.length === 0 ? 0 : median(slopes);
}
