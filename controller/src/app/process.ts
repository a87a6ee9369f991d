import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { arch, platform } from "node:process";
import { CLOUD_CONTROLLER_MANAGER, NODE_ROUTE_CONTROLLER } from "../api/controller-names.ts";
import { isUninitialized } from "../controllers/node/predicates.ts";
import type { ApiAccess } from "../kube/connection/access.ts";
import type { LeaderElector } from "../leadership/elector.ts";
import { ChangeSequence } from "../leadership/change-sequence.ts";
import { providerScopeChanged } from "../leadership/events.ts";
import { scopeRemedy } from "../leadership/lease-annotations.ts";
import { holdsLease } from "../observe/mode.ts";
import type { LeaderMigration } from "../leadership/migration.ts";
import type { Options } from "./options.ts";
import type { TracingSettings } from "../telemetry/tracing-options.ts";
import { informerChecks } from "../server/health.ts";
import type { Verbosity } from "../server/profiling.ts";
import { type Metrics, exposeBuildInfo } from "../telemetry/metrics.ts";
import type { AuditSink } from "../telemetry/audit-log.ts";
import type { Logger } from "../telemetry/log.ts";
import type { RecordingSink } from "../telemetry/recording-log.ts";
import { NO_TRACING, type Tracing } from "../telemetry/tracing.ts";
import { aborted, childSignal } from "../util/abort.ts";
import type { Clock, Random } from "../util/clock.ts";
import { TaskGroup } from "../util/task-group.ts";
import { changeAudit } from "../provider/observers/audit.ts";
import type { ConfigReloader } from "./config-reloader.ts";
import {
  type KubeSide,
  type KubeSideDependencies,
  createKubeSide,
  kubeAccess,
  readClusterId,
} from "../kube/cluster.ts";
import type { Registration } from "../runtime/registration.ts";
import type { Controllers } from "../runtime/supervised-controller.ts";
import { clusterCidrsOf, whyNoRoutes } from "../controllers/route/options.ts";
import { CONTROLLER_NAMES, CONTROLLERS, enabledControllers, prepareControllers } from "./controllers.ts";
import { Election } from "../leadership/election.ts";
import { endInOrder, Ending, GRACE_MS } from "./shutdown.ts";
import { Memories } from "../explain/history/stores.ts";
import { type Observing, observing } from "./cluster.ts";
import { operatorPages } from "../explain/register.ts";
import { ProcessState } from "./readiness.ts";
import { connectProviders } from "../provider/providers.ts";
import { type Servers, startServers } from "./serving.ts";
import { startTracing } from "./tracing.ts";

export interface DaemonDependencies {
  /** In force at this moment: those that are reloadable may change while the daemon runs. */
  readonly options: Options;
  /** Controllers that move between programs. @default none does */
  readonly migration?: LeaderMigration | undefined;
  /** Where traces go. @default there are none */
  readonly traces?: TracingSettings | undefined;
  /** Told of each call that may change something at a provider. @default nobody is */
  readonly audit?: AuditSink | undefined;
  /** Gets what goes over the wire to providers. @default nobody does */
  readonly recording?: RecordingSink | undefined;
  /** Follows the configuration file. @default there is none */
  readonly reloader?: ConfigReloader | undefined;
  readonly metrics: Metrics;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly log: Logger;
  /** How much `log` writes. */
  readonly verbosity: Verbosity;
  readonly clock: Clock;
  readonly random: Random;
  /** @default all of the program */
  readonly registrations?: readonly Registration<Options>[];
  /** Aborts when the process is asked to end. */
  readonly stop: AbortSignal;
  /** Ends the process at once: for an end in order that takes too long. */
  readonly exit: (code: number) => void;
}

/**
 * `lost`: another process may lead; this one must end at once and come back as a standby. `failed`: a part without which the
 * process is of no use has ended, which is a bug; a new process starts with all of them.
 */
export type DaemonEnd = "stopped" | "lost" | "failed";

/** The daemon before anybody leads. */
interface Daemon extends DaemonDependencies {
  readonly access: ApiAccess;
  readonly kube: KubeSide;
  readonly tasks: TaskGroup;
  readonly tracing: Tracing;
  readonly end: Ending;
  readonly state: ProcessState;
  readonly observed: Observing | undefined;
  readonly memories: Memories;
}

/** Index of Nodes, and its only value: those that wait for a cloud controller. */
const WAITING = "uninitialized";

/** Runs until asked to end, until leadership is lost or a background task breaks. Rejects only when an operator must change something first. */
export async function runDaemon(dependencies: DaemonDependencies): Promise<DaemonEnd> {
  const { options, environment, version, log, metrics, reloader, clock, stop, exit, traces: wanted } = dependencies;
  using end = new Ending({ exit, clock, log });
  const access = await kubeAccess({ options, environment, clock });
  metrics.collectProcessMetrics();
  exposeBuildInfo(metrics, version, `${platform}/${arch}`);
  const traces = wanted && (await startTracing({ settings: wanted, version, metrics, log, clock }));
  const tracing = traces?.tracing ?? NO_TRACING;
  const observed = observing({ options, metrics, clock, log });
  const memories = new Memories(clock);
  const kubeTold = { gate: observed?.gate, onEvent: memories.eventRecorded };
  const kube = connectKube(dependencies, access, tracing, kubeTold);
  memories.follow(kube);
  // Aborts too when a background task breaks: with a dead cache or connection the process would look healthy and do nothing.
  using stopping = childSignal(stop);
  end.follow(stopping.signal);
  const tasks = new TaskGroup((task, err) => {
    log.error("A background task broke; the process ends, to be started anew", { task, err });
    stopping.abort(err);
  });
  const state = new ProcessState({ options, reloader, ending: end.signal });
  const daemon: Daemon = {
    ...dependencies,
    access,
    kube,
    tasks,
    tracing,
    end,
    state,
    observed,
    memories,
    stop: stopping.signal,
  };
  const servers = await serve(daemon);
  try {
    // Caches fill and the provider is greeted before leadership is sought: a standby takes over warm.
    for (const { name, informer } of kube.informers) tasks.start(`${name} informer`, (signal) => informer.run(signal));
    if (reloader !== undefined) tasks.start("configuration file", (signal) => reloader.run(signal));
    const how = await lead(daemon);
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

function connectKube(
  { options, version, metrics, log, clock, random }: DaemonDependencies,
  access: ApiAccess,
  tracing: Tracing,
  told: Pick<KubeSideDependencies, "gate" | "onEvent">,
): KubeSide {
  const enabled = enabledControllers(options);
  return createKubeSide({
    access,
    options,
    userAgent: `cloudwire-controller-manager/v${version} (${platform}/${arch})`,
    nodeIndexes: { [WAITING]: (node) => (isUninitialized(node) ? [WAITING] : []) },
    isEnabled: (controller) => enabled.includes(controller),
    metrics,
    log,
    clock,
    random,
    tracing,
    ...told,
  });
}

async function serve(daemon: Daemon): Promise<Servers> {
  const { options, access, kube, state, version, reloader, log } = daemon;
  const servers = await startServers({
    ...daemon,
    reloader,
    liveness: state.liveness,
    readiness: [...state.liveness, ...state.readiness, ...informerChecks(kube.informers)],
    status: () => state.status(),
    providers: () => state.provider?.providers.providers ?? [],
    ...operatorPages({
      ...daemon,
      host: hostname(),
      controllerNames: CONTROLLER_NAMES,
      hasRoutes: enabledControllers(options).includes(NODE_ROUTE_CONTROLLER) && whyNoRoutes(options) === undefined,
      clusterCidrs: clusterCidrsOf(options),
    }),
  });
  log.info("Started", {
    version,
    apiServer: access.description,
    ...(servers.healthUrl === undefined ? {} : { health: servers.healthUrl }),
    ...(servers.secureUrl === undefined ? {} : { secure: servers.secureUrl }),
    ...(servers.statusPageUrl === undefined ? {} : { statusPage: servers.statusPageUrl }),
  });
  return servers;
}

async function lead(daemon: Daemon): Promise<DaemonEnd> {
  const { options, version, metrics, log, clock, random, stop, tracing, kube, tasks, state, reloader } = daemon;
  const { observed, memories } = daemon;
  const clusterId = await readClusterId({
    client: kube.client,
    log,
    clock,
    random,
    signal: stop,
    onFailure: (problem) => {
      state.clusterProblem = problem;
    },
  });
  state.clusterProblem = undefined;
  const cluster = { id: clusterId, name: options.clusterName };
  const { signal } = tasks;
  const isElected = holdsLease(options);
  const sequence = new ChangeSequence({ clock, log, isElected });
  const provider = connectProviders({
    options,
    cluster,
    version,
    metrics,
    log,
    clock,
    random,
    tracing,
    gate: observed?.gate,
    audit: changeAudit(daemon.audit, options.auditEvents ? kube.events.recorder(CLOUD_CONTROLLER_MANAGER) : undefined),
    journal: memories.journal,
    recording: daemon.recording,
    signal,
    companions: () => kube.nodes.lister.byIndex(WAITING, WAITING),
    nodes: () => kube.nodes.lister.list(),
    numbers: sequence,
    scopeRemedy: (name) => scopeRemedy(name, { ...options, isElected }),
    onScopeDoubt: (name, message) => tellScopeDoubt(state.election?.main, kube, name, message),
  });
  state.provider = provider;
  reloader?.onApplied(() => provider.refreshCallRates());
  tasks.start("provider connection", () => provider.run(signal));
  const identity = `${hostname()}_${randomUUID()}`;
  const program = { identity, clock, random, newId: randomUUID, log, metrics, tracing };
  const { registrations = CONTROLLERS } = daemon;
  const prepared = prepareControllers(
    { options, cluster: kube, providers: provider, program, plans: observed?.plans, memories },
    registrations,
  );
  const controllers = followedBy(daemon.end, prepared);
  state.controllers = controllers;
  if (isElected) {
    const shared = { options, kube, provider, metrics, log, clock, random, controllers };
    const annotations = controllers.leaseAnnotations;
    const own = { identity, sequence, annotations, migration: daemon.migration, graceMs: GRACE_MS };
    const election = new Election({ ...shared, ...own });
    state.election = election;
    return election.run(stop);
  }
  const signals = { stop, lost: new AbortController().signal, graceMs: GRACE_MS };
  await Promise.all([controllers.run(() => true, signals), aborted(stop)]);
  return "stopped";
}

/** Where controllers are to end the process ends, from that moment on: as when asked to, so when leadership is lost or given up. */
function followedBy(end: Ending, controllers: Controllers): Controllers {
  return {
    ...controllers,
    run: (isChosen, signals) => {
      end.follow(signals.stop);
      end.follow(signals.lost);
      return controllers.run(isChosen, signals);
    },
  };
}

/** Where it is put right: on the Lease. Without election there is none to look at, and the log says it. */
function tellScopeDoubt(elector: LeaderElector | undefined, kube: KubeSide, provider: string, message: string): void {
  if (elector === undefined) return;
  const event = providerScopeChanged(elector.reference, provider, message);
  kube.events.recorder(CLOUD_CONTROLLER_MANAGER).record(event);
}
