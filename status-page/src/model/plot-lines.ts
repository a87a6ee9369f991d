/** One line of a plot. */
export interface Series {
  readonly name: string;
  /** By time, oldest first. */
  readonly points: readonly Point[];
}

export interface Point {
  readonly atMs: number;
  readonly value: number;
}

export interface PlotFrame {
  readonly fromMs: number;
  readonly toMs: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The `d` of an SVG path; "" where there is nothing to draw. */
export function linePath(points: readonly Point[], { fromMs, toMs, top, width, height }: PlotFrame): string {
  const inSight = points.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
  return inSight
    .map(({ atMs, value }, index) => {
      const x = ((atMs - fromMs) / (toMs - fromMs)) * width;
      const y = height - (Math.min(value, top) / top) * height;
      return `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
    })
    .join("");
}

/** The round number that the scale ends with: 1, 2 or 5 times a power of ten, at or above all values; 1 at least. */
export function topOf(series: readonly Series[]): number {
  const most = Math.max(1, ...series.flatMap(({ points }) => points.map(({ value }) => value)));
  const power = 10 ** Math.floor(Math.log10(most));
  const factor = [1, 2, 5, 10].find((round) => round * power >= most) ?? 10;
  return factor * power;
}

/** Makes one line for each name that any of the samples has; where a sample lacks it, the value was 0. */
export function seriesOf<T extends { readonly atMs: number }>(
  samples: readonly T[],
  valuesOf: (sample: T) => Readonly<Record<string, number>>,
): readonly Series[] {
  const names = [...new Set(samples.flatMap((sample) => Object.keys(valuesOf(sample))))].toSorted();
  return names.map((name) => ({
    name,
    points: samples.map((sample) => ({ atMs: sample.atMs, value: valuesOf(sample)[name] ?? 0 })),
  }));
}
