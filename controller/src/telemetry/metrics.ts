import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import { observeEventLoop } from "./event-loop-delay.ts";

/** One family of time series. Names end in _seconds, _bytes or _total; upstream's names are kept where upstream has one. */
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
  /** Called at each scrape to set current values. */
  readonly collect?: (gauge: Gauge<Label>) => void;
}

/** A family as it was made, for the reference page. */
export interface MetricFamily {
  readonly kind: "counter" | "gauge" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram; of others none. */
  readonly buckets: readonly number[];
}

/** The longest there is: we observe the event loop ourselves. */
const LIBRARY_OBSERVES_MS = 2 ** 31 - 1;
const LIBRARY_OBSERVED = ["min", "max", "mean", "stddev", "p50", "p90", "p99"] as const;

/** Makes and holds the process' metrics. A name can be made once. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #families: MetricFamily[] = [];

  /** All that were made, in that order; without those of {@link collectProcessMetrics}. */
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

  /** process_* and nodejs_* families. Adds timers and observers: once a process, in main only. */
  collectProcessMetrics(): void {
    const register = this.#registry;
    collectDefaultMetrics({ register, eventLoopMonitoringPrecision: LIBRARY_OBSERVES_MS });
    for (const what of LIBRARY_OBSERVED) register.removeSingleMetric(`nodejs_eventloop_lag_${what}_seconds`);
    observeEventLoop(register);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** The whole exposition. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Current value of one series, for tests and explain; undefined when it has none. */
  async value(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
    const metric = await this.#registry.getSingleMetric(name)?.get();
    return metric?.values.find((value) =>
      Object.entries(labels).every(([label, wanted]) =>
        Object.entries(value.labels).some(([l, v]) => l === label && v === wanted),
      ),
    )?.value;
  }

  /**
   * Sums of a family by one of its labels, of the series that are wanted: of a counter or gauge its values, of a histogram how much
   * was observed.
   */
  async sums(
    name: string,
    label: string,
    isWanted: (labels: Readonly<Record<string, string | number | undefined>>) => boolean = () => true,
  ): Promise<Readonly<Record<string, number>>> {
    const metric = await this.#registry.getSingleMetric(name)?.get();
    const sums: Record<string, number> = {};
    for (const { value, labels, ...series } of metric?.values ?? []) {
      const own: Readonly<Record<string, string | number | undefined>> = labels;
      // A histogram's buckets and sum stand beside its count.
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

/** `count` bounds from `start`, each `factor` times the one before. */
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

/** Which program this is. Name and labels as far as they mean something here: component-base/metrics/prometheus/version v0.36.3. */
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
