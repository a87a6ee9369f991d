import { SpanStatusCode } from "@opentelemetry/api";
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { type ReadableSpan, type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterEach, expect, test, vi } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { BoundedQueue, TraceExportError, startTraceExport, traceMetrics } from "./trace-export.ts";
import { Metrics } from "./metrics.ts";

const SETTINGS = { endpoint: "http://collector:4317", sampling: { isParentBased: true, ratio: 1 } };

const TAKEN: ExportResult = { code: ExportResultCode.SUCCESS };
const LOST: ExportResult = { code: ExportResultCode.FAILED, error: new Error("gone") };

/** A collector that answers when the test says so. */
class FakeExporter implements SpanExporter {
  readonly batches: { readonly spans: readonly ReadableSpan[]; readonly done: (result: ExportResult) => void }[] = [];

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.batches.push({ spans, done });
  }

  async shutdown(): Promise<void> {
    // Nothing to end.
  }

  /** Answers all that has come. */
  answer(result: ExportResult): void {
    for (const { done } of this.batches.splice(0)) done(result);
  }
}

function world() {
  const [exporter, clock, log, metrics] = [new FakeExporter(), new FakeClock(), new FakeLog(), new Metrics()];
  const queue = new BoundedQueue(exporter, { settings: SETTINGS, metrics: traceMetrics(metrics), log, clock });
  const tracer = new TracerProvider({ spanProcessors: [queue] }).getTracer("test");
  return {
    exporter,
    clock,
    log,
    queue,
    finish: (spans: number) => {
      for (let made = 0; made < spans; made++) tracer.startSpan("s").setStatus({ code: SpanStatusCode.OK }).end();
    },
    counts: async () => {
      const of = (result: string) => metrics.value("cloudwire_trace_spans_total", { result });
      return { exported: await of("exported"), failed: await of("failed"), dropped: await of("dropped") };
    },
  };
}

test("BoundedQueue holds 2,048 spans, those under way included, and drops and counts the rest", async () => {
  const { finish, exporter, queue, counts } = world();
  finish(5000);
  const flushed = queue.forceFlush();
  exporter.answer(TAKEN);
  await flushed;
  expect(await counts()).toEqual({ exported: 2048, failed: undefined, dropped: 2952 });
});

test("BoundedQueue takes spans again once the collector has", async () => {
  const { finish, exporter, queue, counts } = world();
  finish(2048);
  const flushed = queue.forceFlush();
  exporter.answer(TAKEN);
  await flushed;
  finish(10);
  const again = queue.forceFlush();
  exporter.answer(TAKEN);
  await again;
  expect(await counts()).toEqual({ exported: 2058, failed: undefined, dropped: undefined });
});

test("BoundedQueue says at most every ten minutes that a collector takes nothing, and once that it does again", async () => {
  const { finish, exporter, queue, clock, log, counts } = world();
  const flush = async (result: ExportResult): Promise<void> => {
    finish(3);
    const flushed = queue.forceFlush().catch(() => undefined);
    exporter.answer(result);
    await flushed;
  };
  await flush(LOST);
  await flush(LOST);
  await clock.advance(600_000);
  await flush(LOST);
  await flush(TAKEN);
  await flush(TAKEN);
  await flush(LOST);
  expect(log.lines.map(({ level, message }) => [level, message])).toEqual([
    ["warn", "Could not export traces; dropping them"],
    ["warn", "Could not export traces; dropping them"],
    ["info", "Exporting traces again"],
  ]);
  expect(await counts()).toEqual({ exported: 6, failed: 12, dropped: undefined });
});

afterEach(() => {
  vi.unstubAllEnvs();
});

test("startTraceExport() shows no header that the exporter does not take", () => {
  vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer hünter2");
  const [clock, log] = [new FakeClock(), new FakeLog()];
  const metrics = traceMetrics(new Metrics());
  const start = (): unknown =>
    startTraceExport({ settings: SETTINGS, serviceName: "test", version: "1", instance: "here", metrics, log, clock });
  expect(start).toThrow(TraceExportError);
  expect(start).not.toThrow(/nter2/);
});
