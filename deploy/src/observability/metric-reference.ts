/** Labels of each series, with their values where the label has a closed set of them. */
export type MetricReference = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string> | undefined>>;

const FAMILY_ROW = /^\| `([a-z]\w+)` \| (counter|gauge|histogram) \| [^|]* \| ([^|]*) \|/gm;

/** A row of a closed set begins with its first value; others are sentences. */
const LABEL_ROW = /^\| `(\w+)` \| (?:`(\w+)`)? ?\| (`.*) \|$/gm;

const SERIES_OF: Readonly<Record<string, readonly string[]>> = {
  counter: [""],
  gauge: [""],
  histogram: ["_bucket", "_count", "_sum"],
};

/** Of Node.js' client library; the page names them in prose. */
const OF_THE_PROCESS = [
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
  "process_start_time_seconds",
  "process_open_fds",
  "process_max_fds",
  "nodejs_heap_size_used_bytes",
  "nodejs_eventloop_lag_p99_seconds",
];

/**
 * The series of docs/reference/metrics.md, with the labels that Prometheus adds.
 * @param conditions docs/reference/conditions.md, whose reasons are values of `cloudwire_services`
 */
export function metricReference(page: string, conditions = ""): MetricReference {
  const reasons = [...conditions.matchAll(/^\| `(\w+)` \| (?:True|False|Unknown) \|/gm)].map(([, name = ""]) => name);
  const series = page.split(/^## /m).flatMap((section) => seriesOf(section, new Set([...reasons, "Unknown"])));
  const others = ["up", ...OF_THE_PROCESS].map((name) => [name, new Map()] as const);
  const ofTarget = ["job", "instance"].map((label) => [label, undefined] as const);
  return new Map([...series, ...others].map(([name, labels]) => [name, new Map([...labels, ...ofTarget])]));
}

type Series = readonly [name: string, labels: ReadonlyMap<string, ReadonlySet<string> | undefined>];

function seriesOf(section: string, reasons: ReadonlySet<string>): readonly Series[] {
  const closed = [...section.matchAll(LABEL_ROW)].map(([, label = "", family, cell = ""]) => {
    return { label, family, values: new Set([...cell.matchAll(/(?:^|, )`([^`]+)`/g)].map(([, value = ""]) => value)) };
  });
  return [...section.matchAll(FAMILY_ROW)].flatMap(([, family = "", kind = "", cell = ""]) => {
    const valuesOf = (label: string): ReadonlySet<string> | undefined =>
      family === "cloudwire_services" && label === "reason"
        ? reasons
        : closed.find((row) => row.label === label && (row.family ?? family) === family)?.values;
    const labels = [...cell.matchAll(/`(\w+)`/g)].map(([, label = ""]) => [label, valuesOf(label)] as const);
    const series = SERIES_OF[kind] ?? [];
    return series.map((end) => {
      const le = end === "_bucket" ? [["le", undefined] as const] : [];
      return [`${family}${end}`, new Map([...labels, ...le])] as const;
    });
  });
}
