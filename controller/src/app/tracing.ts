import { hostname } from "node:os";
import type { TracingSettings } from "../telemetry/tracing-options.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { type TraceExport, traceMetrics } from "../telemetry/trace-export.ts";
import type { Clock } from "../util/clock.ts";
import { UsageError } from "../util/errors.ts";

export interface TracingDependencies {
  readonly settings: TracingSettings;
  readonly version: string;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Traces as the settings ask for them. The library is loaded here and only here, so who has no traces does not pay for it. Rejects with UsageError. */
export async function startTracing({ settings, metrics, ...dependencies }: TracingDependencies): Promise<TraceExport> {
  const { startTraceExport, TraceExportError } = await import("../telemetry/trace-export.ts");
  dependencies.log.info("Traces are on", { endpoint: settings.endpoint, ...settings.sampling });
  const serviceName = "cloudwire-controller-manager";
  try {
    return startTraceExport({
      ...dependencies,
      settings,
      metrics: traceMetrics(metrics),
      serviceName,
      instance: hostname(),
    });
  } catch (error) {
    throw error instanceof TraceExportError ? new UsageError(error.message) : error;
  }
}
