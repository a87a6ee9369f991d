import type { JSX } from "preact";
import { formatNumber, formatTime } from "../model/format.ts";
import { linePath, type PlotFrame, type Series, topOf } from "../model/plot-lines.ts";

interface LinePlotProps {
  /** For screen readers. */
  readonly label: string;
  readonly series: readonly Series[];
  readonly unit: string;
  /** Text without values. */
  readonly empty?: string;
}

const WIDTH = 600;
const HEIGHT = 140;
const LEAST_SPAN_MS = 60_000;

/** The number of colors. */
const MOST_SERIES = 8;

/** Values over time. The legend has the last values, so the plot is not the only source of information. */
export function LinePlot({ label, series, unit, empty = "No data yet." }: LinePlotProps): JSX.Element {
  const shown = series.slice(0, MOST_SERIES);
  const times = shown.flatMap(({ points }) => points.map(({ atMs }) => atMs));
  if (times.length === 0) return <p class="empty">{empty}</p>;
  const toMs = times.reduce((latest, atMs) => Math.max(latest, atMs));
  const fromMs = Math.min(
    times.reduce((first, atMs) => Math.min(first, atMs)),
    toMs - LEAST_SPAN_MS,
  );
  const frame: PlotFrame = { fromMs, toMs, top: topOf(shown), width: WIDTH, height: HEIGHT };
  return (
    <figure class="plot">
      <div class="plot-area">
        <span class="scale top">{`${formatNumber(frame.top)}${unit}`}</span>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
          {[0, 0.5, 1].map((share) => (
            <line key={share} class="rule" x1="0" x2={WIDTH} y1={share * HEIGHT} y2={share * HEIGHT} />
          ))}
          {shown.map((line, index) => (
            <path key={line.name} class={`line series-${index}`} d={linePath(line.points, frame)} />
          ))}
        </svg>
        <span class="scale from">{formatTime(new Date(fromMs).toISOString())}</span>
        <span class="scale to">{formatTime(new Date(toMs).toISOString())}</span>
      </div>
      <figcaption>
        {shown.map((line, index) => (
          <span key={line.name} class="legend">
            <span class={`swatch series-${index}`} aria-hidden="true" />
            {line.name} <strong>{`${formatNumber(line.points.at(-1)?.value ?? 0)}${unit}`}</strong>
          </span>
        ))}
        {series.length > shown.length ? <span>and {series.length - shown.length} more</span> : null}
      </figcaption>
    </figure>
  );
}
