/** Labels of each family of metrics, by the name of each of its series. */
export type MetricReference = ReadonlyMap<string, ReadonlySet<string>>;

const ROW = /^\| `([a-z]\w+)` \| (counter|gauge|histogram) \| [^|]* \| ([^|]*) \|/gm;

const SERIES_OF: Readonly<Record<string, readonly string[]>> = {
  counter: [""],
  gauge: [""],
  histogram: ["_bucket", "_count", "_sum"],
};

/** Said in words at the end of the page: they are the library's. */
const OF_THE_PROCESS = [
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
  "process_start_time_seconds",
  "process_open_fds",
  "process_max_fds",
  "nodejs_heap_size_used_bytes",
  "nodejs_eventloop_lag_p99_seconds",
];

/** What docs/reference/metrics.md says that there is, and what Prometheus adds. */
export function metricReference(page: string): MetricReference {
  const rows = [...page.matchAll(ROW)].flatMap(([, name = "", kind = "", cell = ""]) => {
    const labels = [...cell.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label);
    const series = SERIES_OF[kind] ?? [];
    return series.map((end) => [`${name}${end}`, [...labels, ...(end === "_bucket" ? ["le"] : [])]] as const);
  });
  const others = ["up", ...OF_THE_PROCESS].map((name) => [name, []] as const);
  return new Map([...rows, ...others].map(([name, labels]) => [name, new Set([...labels, "job", "instance"])]));
}
