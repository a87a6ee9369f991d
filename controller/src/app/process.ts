import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { arch, getuid, platform } from "node:process";
import { kubeAccess } from "../kube/cluster.ts";
import type { Verbosity } from "../server/profiling.ts";
import { exposeBuildInfo } from "../telemetry/metrics.ts";
import type { TraceExport } from "../telemetry/trace-export.ts";
import { NO_TRACING } from "../telemetry/tracing.ts";
import type { TracingSettings } from "../telemetry/tracing-options.ts";
import { childSignal } from "../util/abort.ts";
import { UsageError } from "../util/errors.ts";
import { TaskGroup } from "../util/task-group.ts";
import {
  type Cluster,
  type ClusterEnd,
  type ClusterSettings,
  openCluster,
  type ProcessContext,
  runCluster,
} from "./cluster.ts";
import { type ConfigReloader, reloadSummary } from "./config-reloader.ts";
import { processChecks } from "./readiness.ts";
import { type Servers, startServers } from "./serving.ts";
import { endInOrder, Ending } from "./shutdown.ts";

type Given = "version" | "metrics" | "log" | "clock" | "random" | "audit" | "recording";

export interface ProcessDependencies extends ClusterSettings, Pick<ProcessContext, Given> {
  /** Where traces go. @default there are none */
  readonly traces?: TracingSettings | undefined;
  /** Follows the configuration file. @default there is none */
  readonly reloader?: ConfigReloader | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** How much `log` writes. */
  readonly verbosity: Verbosity;
  /** Aborts when the process is asked to end. */
  readonly stop: AbortSignal;
  /** Ends the process at once: for an end in order that takes too long. */
  readonly exit: (code: number) => void;
}

/**
 * `lost`: another process may lead; this one must end at once and come back as a standby. `failed`: a part without which the
 * process is of no use has ended, which is a bug; a new process starts with all of them.
 */
export type ProcessEnd = ClusterEnd | "failed";

const PLATFORM = `${platform}/${arch}`;

/** Runs until asked to end, until leadership is lost or a background task breaks. Rejects only when an operator must change something first. */
export async function runProcess(dependencies: ProcessDependencies): Promise<ProcessEnd> {
  const { options, migration, registrations, environment, version, metrics, log, reloader, clock, stop, exit } =
    dependencies;
  using end = new Ending({ exit, clock, log });
  const access = await kubeAccess({ options, environment, clock });
  metrics.collectProcessMetrics();
  exposeBuildInfo(metrics, version, PLATFORM);
  const traces = await startTraces(dependencies);
  // Aborts too when a background task breaks: with a dead cache or connection the process would look healthy and do nothing.
  using stopping = childSignal(stop);
  end.follow(stopping.signal);
  const tasks = new TaskGroup((task, err) => {
    log.error("A background task broke; the process ends, to be started anew", { task, err });
    stopping.abort(err);
  });
  const process = contextOf(dependencies, tasks, traces);
  const cluster = openCluster({ options, migration, registrations }, access, process);
  const { kube, state } = cluster;
  const servers = await serve(dependencies, cluster, process, end.signal);
  reloader?.onApplied(() => state.provider?.refreshCallRates());
  try {
    if (reloader !== undefined) tasks.start("configuration file", (signal) => reloader.run(signal));
    const signals = { stop: stopping.signal, onWork: (ends: AbortSignal) => end.follow(ends) };
    const how = await runCluster(cluster, process, signals);
    const isBroken = stopping.signal.aborted && !stop.aborted;
    return isBroken ? "failed" : how;
  } catch (error) {
    end.begin(error);
    if (!stopping.signal.aborted) throw error;
    return stop.aborted ? "stopped" : "failed";
  } finally {
    await endInOrder({ events: kube.events, tasks, servers, kube, traces, notReadyForMs: end.forMs, clock, log });
  }
}

function contextOf(
  { version, metrics, audit, recording, log, clock, random }: ProcessDependencies,
  tasks: TaskGroup,
  traces: TraceExport | undefined,
): ProcessContext {
  const host = hostname();
  return {
    host,
    identity: `${host}_${randomUUID()}`,
    newId: randomUUID,
    userId: getuid?.(),
    version,
    platform: PLATFORM,
    tracing: traces?.tracing ?? NO_TRACING,
    metrics,
    audit,
    recording,
    log,
    clock,
    random,
    tasks,
  };
}

async function serve(
  { options, reloader, verbosity }: ProcessDependencies,
  { access, kube, state, pages }: Cluster,
  process: ProcessContext,
  ending: AbortSignal,
): Promise<Servers> {
  const servers = await startServers({
    ...process,
    ...pages,
    ...processChecks([state], ending),
    options,
    reloader,
    verbosity,
    access,
    kube,
    providers: () => state.provider?.providers.providers ?? [],
    status: () => ({
      ...state.status(),
      ...(reloader === undefined ? {} : { "Configuration file": reloadSummary(reloader.state) }),
    }),
  });
  process.log.info("Started", {
    version: process.version,
    apiServer: access.description,
    ...(servers.healthUrl === undefined ? {} : { health: servers.healthUrl }),
    ...(servers.secureUrl === undefined ? {} : { secure: servers.secureUrl }),
    ...(servers.statusPageUrl === undefined ? {} : { statusPage: servers.statusPageUrl }),
  });
  return servers;
}

/** Traces as the settings ask for them. The library is loaded here and only here, so who has no traces does not pay for it. Rejects with UsageError. */
async function startTraces({
  traces: settings,
  version,
  metrics,
  log,
  clock,
}: ProcessDependencies): Promise<TraceExport | undefined> {
  if (settings === undefined) return undefined;
  const { startTraceExport, TraceExportError, traceMetrics } = await import("../telemetry/trace-export.ts");
  log.info("Traces are on", { endpoint: settings.endpoint, ...settings.sampling });
  const own = { serviceName: "cloudwire-controller-manager", instance: hostname(), metrics: traceMetrics(metrics) };
  try {
    return startTraceExport({ settings, version, log, clock, ...own });
  } catch (error) {
    throw error instanceof TraceExportError ? new UsageError(error.message) : error;
  }
}
