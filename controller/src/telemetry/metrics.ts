import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import { observeEventLoop } from "./event-loop-delay.ts";

/** Names end in _seconds, _bytes or _total. Where upstream has a metric, its name is kept. */
export interface MetricSpec<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

export interface HistogramSpec<Label extends string> extends MetricSpec<Label> {
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
}

export interface GaugeSpec<Label extends string> extends MetricSpec<Label> {
  /** Called at each scrape. */
  readonly collect?: (gauge: Gauge<Label>) => void;
}

/** For the reference page. */
export interface MetricFamily {
  readonly kind: "counter" | "gauge" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram; otherwise empty. */
  readonly buckets: readonly number[];
}

/** The longest possible period, because {@link observeEventLoop} replaces the library's metrics. */
const LIBRARY_OBSERVES_MS = 2 ** 31 - 1;
const LIBRARY_OBSERVED = ["min", "max", "mean", "stddev", "p50", "p90", "p99"] as const;

/** All metrics of the process. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #families: MetricFamily[] = [];

  /** In the order of creation, without those of {@link collectProcessMetrics}. */
  get families(): readonly MetricFamily[] {
    return this.#families;
  }

  counter<Label extends string = never>(spec: MetricSpec<Label>): Counter<Label> {
    this.#remember("counter", spec);
    return new Counter({ ...common(spec), registers: [this.#registry] });
  }

  gauge<Label extends string = never>(spec: GaugeSpec<Label>): Gauge<Label> {
    const { collect } = spec;
    this.#remember("gauge", spec);
    const gauge: Gauge<Label> = new Gauge({
      ...common(spec),
      registers: [this.#registry],
      ...(collect === undefined ? {} : { collect: () => collect(gauge) }),
    });
    return gauge;
  }

  histogram<Label extends string = never>(spec: HistogramSpec<Label>): Histogram<Label> {
    this.#remember("histogram", spec, spec.buckets);
    return new Histogram({ ...common(spec), buckets: [...spec.buckets], registers: [this.#registry] });
  }

  /** process_* and nodejs_* families. Adds timers and observers: only once per process. */
  collectProcessMetrics(): void {
    const register = this.#registry;
    collectDefaultMetrics({ register, eventLoopMonitoringPrecision: LIBRARY_OBSERVES_MS });
    for (const what of LIBRARY_OBSERVED) register.removeSingleMetric(`nodejs_eventloop_lag_${what}_seconds`);
    observeEventLoop(register);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Current value of one series. */
  async value(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
    const metric = await this.#registry.getSingleMetric(name)?.get();
    return metric?.values.find((value) =>
      Object.entries(labels).every(([label, wanted]) =>
        Object.entries(value.labels).some(([l, v]) => l === label && v === wanted),
      ),
    )?.value;
  }

  /** Sums of a family by one label, over the wanted series: of the values, or the counts of a histogram. */
  async sums(
    name: string,
    label: string,
    isWanted: (labels: Readonly<Record<string, string | number | undefined>>) => boolean = () => true,
  ): Promise<Readonly<Record<string, number>>> {
    const metric = await this.#registry.getSingleMetric(name)?.get();
    const sums: Record<string, number> = {};
    for (const { value, labels, ...series } of metric?.values ?? []) {
      const own: Readonly<Record<string, string | number | undefined>> = labels;
      // A histogram also has series for its buckets and sum.
      if ("metricName" in series && series.metricName !== name && series.metricName !== `${name}_count`) continue;
      if (!isWanted(own)) continue;
      const key = String(own[label] ?? "");
      sums[key] = (sums[key] ?? 0) + value;
    }
    return sums;
  }

  #remember(
    kind: MetricFamily["kind"],
    { name, help, labels = [] }: MetricSpec<string>,
    buckets: readonly number[] = [],
  ): void {
    this.#families.push({ kind, name, help, labels, buckets });
  }
}

export function exponentialBuckets(start: number, factor: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => start * factor ** index);
}

function common<Label extends string>({
  name,
  help,
  labels = [],
}: MetricSpec<Label>): { name: string; help: string; labelNames: Label[] } {
  return { name, help, labelNames: [...labels] };
}

/** Name and labels of component-base/metrics/prometheus/version v0.36.3, as far as they apply. */
export function exposeBuildInfo(metrics: Metrics, version: string, platform: string): void {
  const [major = "", minor = ""] = version.split(".");
  metrics
    .gauge({
      name: "kubernetes_build_info",
      help: "Always 1. The labels hold version and platform of this binary.",
      labels: ["major", "minor", "git_version", "platform"],
    })
    .set({ major, minor, git_version: `v${version}`, platform }, 1);
}
