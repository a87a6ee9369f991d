import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import nodeProcess, { arch, getuid, platform } from "node:process";
import { AccessError } from "../kube/connection/access.ts";
import { kubeAccess } from "../kube/cluster.ts";
import { LiveOptions } from "../options/live-options.ts";
import { openAuditLog } from "../provider/observers/audit.ts";
import { settleCallRates } from "../provider/options.ts";
import type { Verbosity } from "../server/profiling.ts";
import type { AuditLog } from "../telemetry/audit-log.ts";
import { createLogger } from "../telemetry/create-logger.ts";
import { exposeBuildInfo, Metrics } from "../telemetry/metrics.ts";
import { openRecording } from "../telemetry/recording-log.ts";
import type { TraceExport } from "../telemetry/trace-export.ts";
import { NO_TRACING } from "../telemetry/tracing.ts";
import type { TracingSettings } from "../telemetry/tracing-options.ts";
import { childSignal } from "../util/abort.ts";
import { systemClock } from "../util/clock.ts";
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
import { ConfigReloader, reloadSummary } from "./config-reloader.ts";
import { type Reparsed, type Start, TABLE } from "./options.ts";
import { processChecks } from "./readiness.ts";
import { type Servers, startServers } from "./serving.ts";
import { EXIT, handleSignals, readVersion, Shutdown, shutDown } from "./shutdown.ts";

export const PROGRAM = "cloudwire-controller-manager";

const PLATFORM = `${platform}/${arch}`;

/** Time to flush the audit log and the recording. */
const FLUSH_MS = 3000;

/** Runs with the settings of the command line; returns the exit code. `reparse` parses a changed configuration file. */
export async function main(start: Start, reparse: (configText: string) => Reparsed): Promise<number> {
  const { options: initial, migration, tracing, configText, warnings } = start;
  const clock = systemClock();
  const metrics = new Metrics();
  const live = new LiveOptions(TABLE, initial, settleCallRates);
  const options = live.current;
  /** Set at run time; in force until --v changes. */
  let level: number | undefined;
  const verbosity: Verbosity = {
    get: () => level ?? options.v,
    set: (newLevel) => {
      level = newLevel;
    },
  };
  const { loggingFormat: format } = options;
  const log = createLogger({ format, verbosity: verbosity.get, destination: nodeProcess.stderr, clock });
  for (const { where, what } of warnings) log.warn("A setting has no effect", { setting: where, detail: what });
  const reloading = { path: options.config, text: configText, readText, parse: reparse, live, metrics, clock, log };
  const reloader = options.config === "" ? undefined : new ConfigReloader(reloading);
  reloader?.onApplied((changes) => {
    if (changes.some(({ flag }) => flag === "--v")) level = undefined;
  });
  const version = readVersion();
  const opened = openAuditLog({ options, metrics, clock, log });
  const recorded = openRecording({ options, program: `${PROGRAM} ${version}`, metrics, clock, log });
  if (opened.kind === "failed" || recorded.kind === "failed") {
    for (const opening of [opened, recorded]) if (opening.kind === "failed") printError(opening.problem);
    return EXIT.usage;
  }
  const { audit } = opened;
  const { recording } = recorded;
  const stop = handleSignals({ process: nodeProcess, clock, log, reload: onHangup(reloader, audit) });
  const own = { environment: nodeProcess.env, random: Math.random, exit: (code: number) => nodeProcess.exit(code) };
  const parts = { options, migration, traces: tracing, audit, recording, reloader, metrics, version, log, verbosity };
  try {
    return EXIT_AFTER[await runProcess({ ...parts, ...own, clock, stop })];
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof AccessError)) throw error;
    printError(error.message);
    return EXIT.tryAgain;
  } finally {
    await Promise.all([audit?.close(FLUSH_MS), recording?.close(FLUSH_MS)]);
  }
}

export function readText(path: string): string {
  return readFileSync(path, "utf8");
}

export function printError(message: string): void {
  nodeProcess.stderr.write(`${PROGRAM}: ${message}\n`);
}

/** undefined: nothing to reload or to reopen. */
function onHangup(reloader: ConfigReloader | undefined, audit: AuditLog | undefined): (() => void) | undefined {
  if (reloader === undefined && audit === undefined) return undefined;
  return () => {
    reloader?.reload();
    audit?.reopen();
  };
}

type Given = "version" | "metrics" | "log" | "clock" | "random" | "audit" | "recording";

export interface ProcessDependencies extends ClusterSettings, Pick<ProcessContext, Given> {
  /** @default no tracing */
  readonly traces?: TracingSettings | undefined;
  /** @default no configuration file */
  readonly reloader?: ConfigReloader | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Level of `log`. */
  readonly verbosity: Verbosity;
  /** Aborts on a stop signal. */
  readonly stop: AbortSignal;
  /** Ends the process immediately: for a shutdown that times out. */
  readonly exit: (code: number) => void;
}

/** `lost`: another process may be the leader; restart as a standby. `failed`: a background task failed, which is a bug. */
export type ProcessEnd = ClusterEnd | "failed";

const EXIT_AFTER = { stopped: EXIT.ok, lost: EXIT.tryAgain, failed: EXIT.internalError } as const;

/** Runs until it is stopped, leadership is lost or a background task fails. Rejects only with what an operator must fix. */
export async function runProcess(dependencies: ProcessDependencies): Promise<ProcessEnd> {
  const { options, migration, registrations, environment, version, metrics, log, reloader, clock, stop } = dependencies;
  using shutdown = new Shutdown(dependencies);
  const access = await kubeAccess({ options, environment, clock });
  metrics.collectProcessMetrics();
  exposeBuildInfo(metrics, version, PLATFORM);
  const traces = await startTraces(dependencies);
  // Aborts too when a background task fails: with a dead cache or connection the process would look healthy and do nothing.
  using stopping = childSignal(stop);
  shutdown.follow(stopping.signal);
  const tasks = new TaskGroup((task, err) => {
    log.error("A background task failed; exiting", { task, err });
    stopping.abort(err);
  });
  const process = contextOf(dependencies, tasks, traces);
  const cluster = openCluster({ options, migration, registrations }, access, process);
  const { kube, state } = cluster;
  const servers = await serve(dependencies, cluster, process, shutdown.signal);
  reloader?.onApplied(() => state.provider?.refreshCallRates());
  try {
    if (reloader !== undefined) tasks.start("configuration file", (signal) => reloader.run(signal));
    const signals = { stop: stopping.signal, onWork: (ends: AbortSignal) => shutdown.follow(ends) };
    const end = await runCluster(cluster, process, signals);
    return stopping.signal.aborted && !stop.aborted ? "failed" : end;
  } catch (error) {
    shutdown.begin(error);
    if (!stopping.signal.aborted) throw error;
    return stop.aborted ? "stopped" : "failed";
  } finally {
    const notReadyForMs = shutdown.elapsedMs;
    await shutDown({ events: kube.events, tasks, servers, kube, traces, notReadyForMs, clock, log });
  }
}

function contextOf(
  { version, metrics, audit, recording, log, clock, random }: ProcessDependencies,
  tasks: TaskGroup,
  traces: TraceExport | undefined,
): ProcessContext {
  const host = hostname();
  const identity = { host, identity: `${host}_${randomUUID()}`, newId: randomUUID, userId: getuid?.() };
  const telemetry = { tracing: traces?.tracing ?? NO_TRACING, metrics, audit, recording, log };
  return { ...identity, ...telemetry, version, platform: PLATFORM, clock, random, tasks };
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

/** Imports the library only when tracing is on. Rejects with UsageError. */
async function startTraces(dependencies: ProcessDependencies): Promise<TraceExport | undefined> {
  const { traces: settings, metrics, log } = dependencies;
  if (settings === undefined) return undefined;
  const { startTraceExport, TraceExportError, traceMetrics } = await import("../telemetry/trace-export.ts");
  log.info("Exporting traces", { endpoint: settings.endpoint, ...settings.sampling });
  const own = { serviceName: PROGRAM, instance: hostname(), metrics: traceMetrics(metrics) };
  try {
    return startTraceExport({ ...dependencies, settings, ...own });
  } catch (error) {
    throw error instanceof TraceExportError ? new UsageError(error.message) : error;
  }
}
