import { readFile } from "node:fs/promises";
import type { Options } from "../options/options.ts";
import { asksForTraces, readTracingEnvironment } from "../options/tracing-environment.ts";
import { parseTracingFile, type TracingFile } from "../options/tracing-file.ts";
import { DEFAULT_ENDPOINT, type Sampling, type TracingSettings } from "../options/tracing-settings.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { TraceExport } from "../telemetry/trace-export.ts";
import { traceMetrics } from "../telemetry/trace-metrics.ts";
import type { Clock } from "../util/clock.ts";
import { messageOf } from "../util/errors.ts";
import { UsageError } from "./usage-error.ts";

type TracingOptions = Pick<Options, "tracingConfigFile">;
type Environment = Readonly<Record<string, string | undefined>>;

export interface TracingDependencies {
  readonly options: TracingOptions;
  readonly environment: Environment;
  readonly version: string;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Without a word about sampling a file asks for none of our own traces, as in kube-apiserver; the environment for all, as OpenTelemetry has it. */
const FILE_SAMPLING: Sampling = { isParentBased: true, ratio: 0 };
const ENVIRONMENT_SAMPLING: Sampling = { isParentBased: true, ratio: 1 };

/**
 * Where traces go; undefined: there are to be none. The file comes before OpenTelemetry's variables, which fill in what it leaves open.
 * Rejects with UsageError, all problems in it.
 */
export async function readTracing(
  { tracingConfigFile: path }: TracingOptions,
  environment: Environment,
): Promise<TracingSettings | undefined> {
  if (path === "" && !asksForTraces(environment)) return undefined;
  const said = readTracingEnvironment(environment);
  if (said.kind === "invalid") throw new UsageError(said.problems.join("; "));
  const { isDisabled, endpoint, sampling } = said.settings;
  const file = path === "" ? undefined : await readTracingFile(path);
  if (isDisabled) return undefined;
  await refuseUnreadable(environment);
  return {
    endpoint: file?.endpoint ?? endpoint ?? DEFAULT_ENDPOINT,
    sampling: samplingOf(file) ?? sampling ?? (file === undefined ? ENVIRONMENT_SAMPLING : FILE_SAMPLING),
  };
}

/** Files that the exporter reads by itself: without one it would go on, trusting others or known to nobody. */
const FILE_VARIABLES: readonly string[] = ["CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"].flatMap((what) => [
  `OTEL_EXPORTER_OTLP_${what}`,
  `OTEL_EXPORTER_OTLP_TRACES_${what}`,
]);

async function refuseUnreadable(environment: Environment): Promise<void> {
  const problems: string[] = [];
  for (const name of FILE_VARIABLES) {
    const path = environment[name]?.trim() ?? "";
    if (path === "") continue;
    await readFile(path).catch((error: unknown) => problems.push(`${name}: cannot be read: ${messageOf(error)}`));
  }
  if (problems.length > 0) throw new UsageError(problems.join("; "));
}

async function readTracingFile(path: string): Promise<TracingFile> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(`--tracing-config-file cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const reading = parseTracingFile(text);
  if (reading.kind === "invalid") throw new UsageError(`--tracing-config-file ${path}: ${reading.problems.join("; ")}`);
  return reading.settings;
}

function samplingOf(file: TracingFile | undefined): Sampling | undefined {
  const rate = file?.samplingRatePerMillion;
  return rate === undefined ? undefined : { isParentBased: true, ratio: rate / 1_000_000 };
}

/**
 * Traces as the settings ask for them; undefined: they ask for none. The library is loaded here and only here, so who has no traces does
 * not pay for it. Rejects with UsageError.
 */
export async function startTracing({
  options,
  environment,
  metrics,
  ...dependencies
}: TracingDependencies): Promise<TraceExport | undefined> {
  const settings = await readTracing(options, environment);
  if (settings === undefined) return undefined;
  const { startTraceExport } = await import("../telemetry/trace-export.ts");
  dependencies.log.info("Traces are on", { endpoint: settings.endpoint, ...settings.sampling });
  const serviceName = "cloudwire-controller-manager";
  return startTraceExport({ ...dependencies, settings, metrics: traceMetrics(metrics), serviceName });
}
