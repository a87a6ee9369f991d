import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { tooManyRequests } from "../cloud/retries.ts";
import type { CloudCall } from "../definition/call-context.ts";

/** How a call of the contract ended. */
export interface CallOutcome {
  /** Name of the gRPC code: `OK`, `UNAVAILABLE`. */
  readonly code: string;
  /** Reason of the contract or the vendor; empty for success. */
  readonly reason: string;
}

/** Counts what a provider does. */
export interface ProviderMetrics {
  readonly callStarted: (method: string) => void;
  readonly callEnded: (method: string, outcome: CallOutcome, seconds: number) => void;
  readonly cloudCall: (call: CloudCall) => void;
  /** Everything, as Prometheus reads it. */
  readonly render: () => Promise<{ readonly contentType: string; readonly body: string }>;
}

/** For providers that serve no metrics. */
export const noMetrics: Omit<ProviderMetrics, "render"> = {
  callStarted: () => undefined,
  callEnded: () => undefined,
  cloudCall: () => undefined,
};

/** What the metrics describe. */
export interface PrometheusOptions {
  readonly name: string;
  readonly version: string;
  readonly sdkVersion: string;
  readonly runtimeVersion: string;
  /** True: calls can be expected to work. */
  readonly isReady: () => boolean;
}

/** csi-lib-utils v0.22, metrics.go, and two below: answers from memory take milliseconds. */
const durationBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

const prefix = "cloudwire_provider_";

/** Metrics in Prometheus' text format. The README has a row for each: a test compares them. */
export const createPrometheusMetrics = (options: PrometheusOptions): ProviderMetrics => {
  const registry = new Registry();
  const registers = [registry];
  const duration = new Histogram({
    name: `${prefix}call_duration_seconds`,
    help: "How long calls of the contract took, streams included.",
    labelNames: ["method", "code", "reason"],
    buckets: durationBuckets,
    registers,
  });
  const inFlight = new Gauge({
    name: `${prefix}calls_in_flight`,
    help: "Calls of the contract under way, streams included.",
    labelNames: ["method"],
    registers,
  });
  const cloudCalls = new Counter({
    name: `${prefix}cloud_calls_total`,
    help: "Requests to the cloud, repetitions included.",
    labelNames: ["outcome"],
    registers,
  });
  const cloudRetries = new Counter({
    name: `${prefix}cloud_retries_total`,
    help: "Requests to the cloud that repeated an earlier one.",
    registers,
  });
  describeProcess(options, registry);
  return {
    callStarted: (method) => inFlight.inc({ method }),
    callEnded: (method, { code, reason }, seconds) => {
      inFlight.dec({ method });
      duration.observe({ method, code, reason }, seconds);
    },
    cloudCall: (call) => {
      cloudCalls.inc({ outcome: outcomeOf(call) });
      if (call.retry) cloudRetries.inc();
    },
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
};

/** Without prom-client's own collection: it watches the event loop and the garbage collector, which costs more than it is worth here. */
const describeProcess = (options: PrometheusOptions, registry: Registry): void => {
  const { name, version, sdkVersion, runtimeVersion, isReady } = options;
  const gauge = (metric: string, help: string, read: () => number) => {
    const made: Gauge = new Gauge({ name: metric, help, registers: [registry], collect: () => made.set(read()) });
  };
  new Gauge({
    name: `${prefix}build_info`,
    help: "Always 1; the labels describe the build.",
    labelNames: ["name", "version", "sdk", "runtime"],
    registers: [registry],
  }).set({ name, version, sdk: sdkVersion, runtime: runtimeVersion }, 1);
  gauge(`${prefix}ready`, "1: calls can be expected to work. 0: not.", () => (isReady() ? 1 : 0));
  gauge("process_start_time_seconds", "When the process began, since 1970.", () => performance.timeOrigin / 1_000);
  gauge("process_resident_memory_bytes", "Memory that the process holds.", () => process.memoryUsage.rss());
  const cpu: Counter = new Counter({
    name: "process_cpu_seconds_total",
    help: "Processor time that the process has used.",
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage();
      cpu.reset();
      cpu.inc((user + system) / 1e6);
    },
  });
};

const outcomeOf = ({ status, error }: CloudCall): string => {
  if (error !== undefined && status === undefined) return "no_answer";
  if (status === tooManyRequests) return "throttled";
  if (status === 401 || status === 403) return "denied";
  if (status !== undefined && status >= 500) return "server_error";
  if (status !== undefined && status >= 400) return "client_error";
  return error === undefined ? "success" : "bad_answer";
};
