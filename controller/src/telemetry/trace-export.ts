import { DiagLogLevel, diag } from "@opentelemetry/api";
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { raceAbort } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { OtelTracing } from "./otel-tracing.ts";
import type { Sampling, TracingSettings } from "./tracing-options.ts";
import type { Tracing } from "./tracing.ts";

export interface TraceExportDependencies {
  readonly settings: TracingSettings;
  /** `service.name`, unless the environment says another. */
  readonly serviceName: string;
  readonly version: string;
  /** `service.instance.id`, unless the environment says another: name of the host. */
  readonly instance: string;
  readonly metrics: TraceMetrics;
  readonly log: Logger;
  readonly clock: Clock;
}

export interface TraceExport {
  readonly tracing: Tracing;
  /** Exports what waits and ends; gives up when `signal` aborts. Never rejects. */
  stop(signal: AbortSignal): Promise<void>;
}

/** The exporter does not take what the variables that it reads by itself say. */
export class TraceExportError extends Error {
  readonly code = "TRACE_EXPORT";

  constructor(message: string) {
    super(message);
    this.name = "TraceExportError";
  }
}

/** Spans that may wait for the collector, those under way to it included; about 2 kB each. */
const MAX_WAITING = 2048;

/** Between two log lines about a collector that does not take them. */
const LOG_MS = 600_000;

/**
 * Traces of this process, exported in the background. Work never waits for them, and nothing fails by them.
 * Throws {@link TraceExportError}.
 */
export function startTraceExport(dependencies: TraceExportDependencies): TraceExport {
  const { settings, serviceName, version, instance, log } = dependencies;
  forwardLibraryLog(log);
  const provider = new TracerProvider({
    sampler: samplerOf(settings.sampling),
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          "service.name": serviceName,
          "service.version": version,
          "service.instance.id": instance,
        }),
      )
      .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })),
    spanProcessors: [new BoundedQueue(newExporter(settings), dependencies)],
  });
  return {
    tracing: new OtelTracing(provider.getTracer("cloudwire", version)),
    stop: (signal) => raceAbort(provider.shutdown(), signal).catch(() => undefined),
  };
}

/** Reads headers, certificates and time-outs from the environment. */
function newExporter({ endpoint }: TracingSettings): OTLPTraceExporter {
  try {
    return new OTLPTraceExporter({ url: endpoint });
  } catch {
    // Without the cause: its message may show a header, and so a token.
    throw new TraceExportError(
      "no exporter of traces can be made from the variables OTEL_EXPORTER_OTLP_*; look at the headers in them first",
    );
  }
}

/** What it has to say it would say to nobody. It repeats itself with each export, so it is not for everybody. */
function forwardLibraryLog(log: Logger): void {
  const tell = (text: string): void => log.debug(4, "OpenTelemetry", { text });
  const silent = (): void => undefined;
  diag.setLogger(
    { error: tell, warn: tell, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

function samplerOf({ ratio, isParentBased }: Sampling): Sampler {
  const root = new TraceIdRatioBasedSampler(ratio);
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}

type ExportDone = (result: ExportResult) => void;

/** Batches spans for the exporter, counts what becomes of them, and says when it is not what should. */
export class BoundedQueue implements SpanProcessor {
  readonly #deps: Pick<TraceExportDependencies, "metrics" | "log" | "clock" | "settings">;
  readonly #batches: BatchSpanProcessor;
  #waiting = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;
  #isTroubled = false;

  constructor(exporter: SpanExporter, deps: Pick<TraceExportDependencies, "metrics" | "log" | "clock" | "settings">) {
    this.#deps = deps;
    this.#batches = new BatchSpanProcessor({
      maxQueueSize: MAX_WAITING,
      exporter: {
        export: (spans, done) => exporter.export(spans, this.#counted(spans.length, done)),
        shutdown: () => exporter.shutdown(),
      },
    });
  }

  onStart(): void {
    // Only finished spans matter.
  }

  onEnd(span: ReadableSpan): void {
    if (this.#waiting >= MAX_WAITING) return this.#deps.metrics.count("dropped", 1);
    this.#waiting++;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  #counted(spans: number, done: ExportDone): ExportDone {
    return (result) => {
      this.#waiting -= spans;
      const isExported = result.code === ExportResultCode.SUCCESS;
      this.#deps.metrics.count(isExported ? "exported" : "failed", spans);
      if (isExported) this.#recovered();
      else this.#failed(spans, result.error);
      done(result);
    };
  }

  #failed(spans: number, err: unknown): void {
    const { log, clock, settings } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#loggedAtMs < LOG_MS) return;
    this.#loggedAtMs = nowMs;
    this.#isTroubled = true;
    log.warn("Could not export traces; dropping them", {
      endpoint: settings.endpoint,
      spans,
      err,
    });
  }

  #recovered(): void {
    if (!this.#isTroubled) return;
    this.#isTroubled = false;
    this.#deps.log.info("Exporting traces again", { endpoint: this.#deps.settings.endpoint });
  }
}

/** What becomes of finished spans. */
export type SpanFate = "exported" | "failed" | "dropped";

export interface TraceMetrics {
  count(fate: SpanFate, spans: number): void;
}

export function traceMetrics(metrics: Metrics): TraceMetrics {
  const spans = metrics.counter({
    name: "cloudwire_trace_spans_total",
    help: "Finished trace spans, by result.",
    labels: ["result"],
  });
  return { count: (fate, number) => spans.inc({ result: fate }, number) };
}
