import { type Trend, type TrendResult, afterWarmUp, checkCount, checkMemory, trendOf, troughs } from "./check-soak.ts";
import { type Measure, type Sample, heapPoints, points } from "./sampler.ts";

export interface Row {
  readonly what: string;
  readonly trend: Trend;
  readonly unit: "MiB" | "";
  /** Undefined: shown, not checked. */
  readonly result: TrendResult | undefined;
}

const MIB = 1024 * 1024;

const MEMORY: readonly { readonly measure: Measure; readonly name: string }[] = [
  { measure: "rssBytes", name: "RSS" },
  { measure: "pssBytes", name: "PSS" },
  { measure: "privateBytes", name: "private memory" },
];

/** How memory, descriptors and threads of both processes went once they were warm. */
export function checkSamples(samples: readonly Sample[]): readonly Row[] {
  const heap = trendOf(troughs(afterWarmUp(heapPoints(samples))));
  return [
    ...rowsOf(samples, "controller"),
    { what: "controller heap, collected", trend: heap, unit: "MiB", result: undefined },
    ...rowsOf(samples, "sidecar"),
  ];
}

function rowsOf(samples: readonly Sample[], process: "controller" | "sidecar"): readonly Row[] {
  const trend = (measure: Measure): Trend => trendOf(afterWarmUp(points(samples, process, measure)));
  const memory = MEMORY.map(({ measure, name }): Row => {
    // Only RSS has a limit; the others show where memory grows.
    const result = measure === "rssBytes" ? checkMemory(trend(measure)) : undefined;
    return { what: `${process} ${name}`, trend: trend(measure), unit: "MiB", result };
  });
  const counts = (["descriptors", "threads"] as const).map(
    (measure): Row => ({
      what: `${process} ${measure}`,
      trend: trend(measure),
      unit: "",
      result: checkCount(trend(measure)),
    }),
  );
  return [...memory, ...counts];
}

/** The table that people read. */
export function formatRows(rows: readonly Row[]): string {
  const cells = rows.map(({ what, trend, unit, result }) => {
    const figure = (value: number): string => (unit === "MiB" ? (value / MIB).toFixed(1) : value.toFixed(0));
    const percent = ((trend.growth / trend.from) * 100).toFixed(1);
    return [
      what,
      `${figure(trend.from)} ${unit}`.trim(),
      `${figure(trend.to)} ${unit}`.trim(),
      `${percent} %`,
      trend.minutes.toFixed(1),
      result === undefined ? "" : RESULT_TEXTS[result.kind],
    ];
  });
  const table = [["", "from", "to", "growth", "minutes", ""], ...cells];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return table
    .map((row) =>
      row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))),
    )
    .map((row) => row.join("  ").trimEnd())
    .join("\n");
}

const RESULT_TEXTS = { flat: "flat", grows: "GROWS", tooShort: "too short to say" } as const satisfies Record<
  TrendResult["kind"],
  string
>;

/** One sentence for each thing that grows. */
export function faultsOf(rows: readonly Row[]): readonly string[] {
  return rows.flatMap(({ what, result }) => (result?.kind === "grows" ? [`${what} grows ${result.why}`] : []));
}

/**
 * Errors in a program's log, each kind once with how often it came. Nothing that the soak does is a reason for one: what is cut, refused
 * or restarted is tried again, which is a warning at most.
 */
export function logFaults(program: string, output: string): readonly string[] {
  const errors = output.split("\n").flatMap((line) => {
    const kind = errorIn(line);
    return kind === undefined ? [] : [{ kind, line }];
  });
  return [...Map.groupBy(errors, ({ kind }) => kind)].map(
    ([kind, found]) => `the ${program} logged ${found.length} times an error "${kind}", first: ${found[0]?.line ?? ""}`,
  );
}

/** The constant message of a line of level error: the controller's are text, those of a sidecar on the SDK are JSON. */
function errorIn(line: string): string | undefined {
  return /^\S+ ERROR (.*?)(?: [a-zA-Z]+=.*)?$/.exec(line)?.[1] ?? /"level":"error","message":"([^"]*)/.exec(line)?.[1];
}
