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
  /** Default of `service.name`. */
  readonly serviceName: string;
  readonly version: string;
  /** Default of `service.instance.id`: the host name. */
  readonly instance: string;
  readonly metrics: TraceMetrics;
  readonly log: Logger;
  readonly clock: Clock;
}

export interface TraceExport {
  readonly tracing: Tracing;
  /** Exports queued spans until `signal` aborts. Never rejects. */
  stop(signal: AbortSignal): Promise<void>;
}

/** A variable that the exporter reads itself is invalid. */
export class TraceExportError extends Error {
  readonly code = "TRACE_EXPORT";

  constructor(message: string) {
    super(message);
    this.name = "TraceExportError";
  }
}

/** Queued spans, including those being exported; about 2 kB each. */
const MAX_WAITING = 2048;

/** Between two log messages about failed exports. */
const LOG_MS = 600_000;

/** Exports traces in the background; calls never wait for it nor fail because of it. Throws {@link TraceExportError}. */
export function startTraceExport(dependencies: TraceExportDependencies): TraceExport {
  const { settings, serviceName, version, instance, log } = dependencies;
  forwardLibraryLog(log);
  const attributes = { "service.name": serviceName, "service.version": version, "service.instance.id": instance };
  const provider = new TracerProvider({
    sampler: samplerOf(settings.sampling),
    resource: defaultResource()
      .merge(resourceFromAttributes(attributes))
      .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })),
    spanProcessors: [new BoundedQueue(newExporter(settings), dependencies)],
  });
  return {
    tracing: new OtelTracing(provider.getTracer("cloudwire", version)),
    stop: (signal) => raceAbort(provider.shutdown(), signal).catch(() => undefined),
  };
}

/** The exporter reads headers, certificates and timeouts from the environment. */
function newExporter({ endpoint }: TracingSettings): OTLPTraceExporter {
  try {
    return new OTLPTraceExporter({ url: endpoint });
  } catch {
    // Without the cause: its message may contain a header, and so a token.
    throw new TraceExportError(
      "cannot create the trace exporter from the variables OTEL_EXPORTER_OTLP_*; check the headers in them first",
    );
  }
}

/** At a high verbosity, because the library repeats its messages with each export. */
function forwardLibraryLog(log: Logger): void {
  const forward = (text: string): void => log.debug(4, "OpenTelemetry", { text });
  const silent = (): void => undefined;
  diag.setLogger(
    { error: forward, warn: forward, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

function samplerOf({ ratio, isParentBased }: Sampling): Sampler {
  const root = new TraceIdRatioBasedSampler(ratio);
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}

type ExportDone = (result: ExportResult) => void;
type QueueDependencies = Pick<TraceExportDependencies, "metrics" | "log" | "clock" | "settings">;

/** Batches spans for the exporter, counts them by result, and logs failures. */
export class BoundedQueue implements SpanProcessor {
  readonly #deps: QueueDependencies;
  readonly #batches: BatchSpanProcessor;
  #waiting = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;
  #isTroubled = false;

  constructor(exporter: SpanExporter, deps: QueueDependencies) {
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
    // Only finished spans are exported.
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
    log.warn("Could not export traces; dropping them", { endpoint: settings.endpoint, spans, err });
  }

  #recovered(): void {
    if (!this.#isTroubled) return;
    this.#isTroubled = false;
    this.#deps.log.info("Exporting traces again", { endpoint: this.#deps.settings.endpoint });
  }
}

export type SpanResult = "exported" | "failed" | "dropped";

export interface TraceMetrics {
  count(result: SpanResult, spans: number): void;
}

export function traceMetrics(metrics: Metrics): TraceMetrics {
  const spans = metrics.counter({
    name: "cloudwire_trace_spans_total",
    help: "Finished trace spans, by result.",
    labels: ["result"],
  });
  return { count: (result, number) => spans.inc({ result }, number) };
}
