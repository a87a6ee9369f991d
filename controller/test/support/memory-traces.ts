import { SpanStatusCode } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { OtelTracing } from "../../src/telemetry/otel-tracing.ts";

/** What tests look at of a finished span; other spans by their names. */
export interface FinishedSpan {
  readonly name: string;
  readonly parent: string | undefined;
  readonly links: readonly string[];
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Real traces that stay in memory. Span names must be unique. */
export class MemoryTraces {
  readonly tracing: OtelTracing;
  readonly #exporter = new InMemorySpanExporter();

  /** `ratio` of new traces that are exported. */
  constructor(ratio = 1) {
    const provider = new TracerProvider({
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
      spanProcessors: [new SimpleSpanProcessor({ exporter: this.#exporter })],
    });
    this.tracing = new OtelTracing(provider.getTracer("test"));
  }

  /** In the order of their ends. */
  get spans(): readonly FinishedSpan[] {
    const finished = this.#exporter.getFinishedSpans();
    const nameOf = (spanId: string): string =>
      finished.find((span) => span.spanContext().spanId === spanId)?.name ?? "not exported";
    return finished.map(({ name, parentSpanContext, links, status, attributes }) => ({
      name,
      parent: parentSpanContext && nameOf(parentSpanContext.spanId),
      links: links.map(({ context }) => nameOf(context.spanId)),
      isError: status.code === SpanStatusCode.ERROR,
      attributes,
    }));
  }
}
