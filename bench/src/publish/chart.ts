/** One line of a chart. */
export interface Series {
  readonly label: string;
  readonly points: readonly ChartPoint[];
}

/** Both above 0. */
export interface ChartPoint {
  readonly x: number;
  readonly y: number;
}

export interface Chart {
  readonly title: string;
  readonly xTitle: string;
  readonly series: readonly Series[];
}

const WIDTH = 720;
const HEIGHT = 400;
/** Room for the axes' words, and on the right for the lines' names. */
const FRAME = { left: 70, right: 540, top: 50, bottom: 340 } as const;
const MARK = 4;
/** Between the names of two lines, so that both can be read. */
const LABEL_GAP = 18;

/** Okabe and Ito's palette for color-blind readers; each line also has its own marker. */
const COLORS = ["#0072b2", "#d55e00", "#009e73", "#a05a8c"] as const;

/** Readable on light and dark backgrounds; an image knows only the color scheme of the reader. */
const STYLE = `text{font:13px system-ui,sans-serif;fill:#24292f}.title{font-size:15px;font-weight:600}
.grid{stroke:#8c959f;stroke-opacity:.35}.line{fill:none;stroke-width:2}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}}`;

/** An SVG of lines over two logarithmic axes: what grows in proportion has the same slope, however large it is. */
export function lineChart({ title, xTitle, series }: Chart): string {
  const points = series.flatMap((line) => line.points);
  const x = logScale(
    points.map((point) => point.x),
    FRAME.left,
    FRAME.right,
  );
  const y = logScale(withRoundEnds(points.map((point) => point.y)), FRAME.bottom, FRAME.top);
  const xTicks = [...new Set(points.map((point) => point.x))].toSorted((left, right) => left - right);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escape(title)}">`,
    `<style>${STYLE}</style>`,
    text(FRAME.left, 25, title, { className: "title" }),
    ...ticksWithin(y.min, y.max).flatMap((value) => [
      `<path class="grid" d="M${FRAME.left} ${y.at(value)}H${FRAME.right}"/>`,
      text(FRAME.left - 8, y.at(value) + 4, number(value), { anchor: "end" }),
    ]),
    ...xTicks.flatMap((value) => [
      `<path class="grid" d="M${x.at(value)} ${FRAME.top}V${FRAME.bottom}"/>`,
      text(x.at(value), FRAME.bottom + 20, number(value), { anchor: "middle" }),
    ]),
    text((FRAME.left + FRAME.right) / 2, FRAME.bottom + 42, xTitle, { anchor: "middle" }),
    ...series.flatMap((line, index) => lineParts(line, index, x.at, y.at)),
    ...labels(series, x.at, y.at),
    "</svg>",
  ];
  return `${parts.join("\n")}\n`;
}

type Scale = (value: number) => number;

function lineParts({ points }: Series, index: number, x: Scale, y: Scale): readonly string[] {
  const color = colorOf(index);
  const path = points.map((point, at) => `${at === 0 ? "M" : "L"}${x(point.x)} ${y(point.y)}`).join("");
  return [
    `<path class="line" stroke="${color}" d="${path}"/>`,
    ...points.map((point) => mark(index, x(point.x), y(point.y), color)),
  ];
}

/** Labels next to the ends of the lines, moved apart where they overlap. */
function labels(series: readonly Series[], x: Scale, y: Scale): readonly string[] {
  const ends = series
    .flatMap(({ label, points }, index) => {
      const end = points.at(-1);
      return end === undefined ? [] : [{ label, index, x: x(end.x), y: y(end.y) }];
    })
    .toSorted((left, right) => left.y - right.y);
  let above = Number.NEGATIVE_INFINITY;
  return ends.map((end) => {
    above = Math.max(end.y, above + LABEL_GAP);
    return text(end.x + 12, above + 4, end.label, { color: colorOf(end.index) });
  });
}

function mark(index: number, x: number, y: number, color: string): string {
  switch (index % 3) {
    case 0:
      return `<circle cx="${x}" cy="${y}" r="${MARK}" fill="${color}"/>`;
    case 1:
      return `<rect x="${x - MARK}" y="${y - MARK}" width="${2 * MARK}" height="${2 * MARK}" fill="${color}"/>`;
    default:
      return `<path d="M${x} ${y - MARK - 1}l${MARK + 1} ${2 * MARK}h-${2 * MARK + 2}z" fill="${color}"/>`;
  }
}

function colorOf(index: number): string {
  return COLORS[index % COLORS.length] ?? COLORS[0];
}

interface TextLook {
  readonly anchor?: "middle" | "end";
  readonly className?: string;
  /** Stronger than the style sheet's. */
  readonly color?: string;
}

function text(x: number, y: number, content: string, { anchor, className, color }: TextLook): string {
  const attributes = [
    `x="${x}" y="${y}"`,
    ...(anchor === undefined ? [] : [`text-anchor="${anchor}"`]),
    ...(className === undefined ? [] : [`class="${className}"`]),
    ...(color === undefined ? [] : [`style="fill:${color}"`]),
  ];
  return `<text ${attributes.join(" ")}>${escape(content)}</text>`;
}

/** Whole pixels; a scale of one value shows it in the middle. */
function logScale(values: readonly number[], from: number, to: number) {
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const span = Math.log(max / min);
  const at = (value: number): number => {
    const share = span === 0 ? 0.5 : Math.log(value / min) / span;
    return Math.round(from + share * (to - from));
  };
  return { min, max, at };
}

/** With the next ticks on both ends, so that the lines keep off the edges. */
function withRoundEnds(values: readonly number[]): readonly number[] {
  const ticks = ticksWithin(Math.min(...values) / 10, Math.max(...values) * 10);
  const below = ticks.filter((tick) => tick <= Math.min(...values)).at(-1);
  const above = ticks.find((tick) => tick >= Math.max(...values));
  return [...values, ...[below, above].filter((tick) => tick !== undefined)];
}

/** 1, 2 and 5 of every power of ten; only the powers where that would be many. */
export function ticksWithin(min: number, max: number): readonly number[] {
  const [from, to] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
  const steps = Math.log10(max / min) > 3 ? [1] : [1, 2, 5];
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
    .flatMap((exponent) => steps.map((step) => Number(`${step}e${exponent}`)))
    .filter((tick) => tick >= min && tick <= max);
}

function number(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 3 });
}

function escape(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
