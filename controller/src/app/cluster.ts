import { CLOUD_CONTROLLER_MANAGER, NODE_ROUTE_CONTROLLER } from "../api/controller-names.ts";
import { WAITING, waitingIndex } from "../controllers/node/predicates.ts";
import { clusterCidrsOf, whyNoRoutes } from "../controllers/route/options.ts";
import { Memories } from "../explain/history/stores.ts";
import { type OperatorPages, operatorPages } from "../explain/register.ts";
import { type ClusterConnection, connectCluster, readClusterId } from "../kube/cluster.ts";
import type { ApiAccess } from "../kube/connection/access.ts";
import { ChangeSequence } from "../leadership/change-sequence.ts";
import { Election } from "../leadership/election.ts";
import type { LeaderElector } from "../leadership/elector.ts";
import { providerScopeChanged } from "../leadership/events.ts";
import { scopeRemedy } from "../leadership/lease-annotations.ts";
import type { LeaderMigration } from "../leadership/migration.ts";
import { holdsLease } from "../observe/mode.ts";
import { type Observing, observing } from "../observe/write-filter.ts";
import { changeAudit } from "../provider/observers/audit.ts";
import { type Providers, connectProviders } from "../provider/providers.ts";
import type { ProgramContext, Registration } from "../runtime/registration.ts";
import type { AuditSink } from "../telemetry/audit-log.ts";
import type { RecordingSink } from "../telemetry/recording-log.ts";
import { aborted } from "../util/abort.ts";
import type { TaskGroup } from "../util/task-group.ts";
import { CONTROLLER_NAMES, CONTROLLERS, enabledControllers, prepareControllers } from "./controllers.ts";
import type { Options } from "./options.ts";
import { ClusterState } from "./readiness.ts";
import { GRACE_MS } from "./shutdown.ts";

/** What the process has once, whatever clusters it works on. */
export interface ProcessContext extends ProgramContext {
  readonly version: string;
  /** `linux/x64` */
  readonly platform: string;
  /** Name of the host. */
  readonly host: string;
  /** Of the user that it runs as. */
  readonly userId: number | undefined;
  /** Told of each call that may change something at a provider. @default nobody is */
  readonly audit?: AuditSink | undefined;
  /** Gets what goes over the wire to providers. @default nobody does */
  readonly recording?: RecordingSink | undefined;
  /** One that breaks ends the process. */
  readonly tasks: TaskGroup;
}

/** Which cluster, and what is done there. */
export interface ClusterSettings {
  /** In force at this moment: those that are reloadable may change meanwhile. */
  readonly options: Options;
  /** Controllers that move between programs. @default none does */
  readonly migration?: LeaderMigration | undefined;
  /** @default all of the program */
  readonly registrations?: readonly Registration<Options>[] | undefined;
}

/** A cluster before anybody leads it. */
export interface Cluster extends ClusterSettings {
  readonly access: ApiAccess;
  readonly kube: ClusterConnection;
  readonly state: ClusterState;
  /** What operators are told of it. */
  readonly pages: OperatorPages;
  readonly observed: Observing | undefined;
  readonly memories: Memories;
}

export interface ClusterSignals {
  /** Asks to end. */
  readonly stop: AbortSignal;
  /** Told of a signal that ends the work on this cluster when it aborts, as soon as there is work. */
  readonly onWork: (ends: AbortSignal) => void;
}

/** `lost`: another process may lead; this one must do nothing there any more and come back as a standby. */
export type ClusterEnd = "stopped" | "lost";

/** Everything of a cluster that there is before its caches are filled. Nothing runs yet. */
export function openCluster(settings: ClusterSettings, access: ApiAccess, process: ProcessContext): Cluster {
  const { options } = settings;
  const { version, platform, host, metrics, log, clock, random, tracing } = process;
  const observed = observing({ options, metrics, clock, log });
  const memories = new Memories(clock);
  const enabled = enabledControllers(options);
  const kube = connectCluster({
    access,
    options,
    userAgent: `cloudwire-controller-manager/v${version} (${platform})`,
    nodeIndexes: { [WAITING]: waitingIndex },
    isEnabled: (controller) => enabled.includes(controller),
    metrics,
    log,
    clock,
    random,
    tracing,
    filter: observed?.filter,
    onEvent: memories.eventRecorded,
  });
  memories.follow(kube);
  const state = new ClusterState(options, kube.informers);
  const pages = operatorPages({
    options,
    controllerNames: CONTROLLER_NAMES,
    hasRoutes: enabled.includes(NODE_ROUTE_CONTROLLER) && whyNoRoutes(options) === undefined,
    clusterCidrs: clusterCidrsOf(options),
    kube,
    state,
    observed,
    memories,
    metrics,
    version,
    host,
    log,
    clock,
  });
  return { ...settings, access, kube, state, pages, observed, memories };
}

/** Fills caches, connects providers and runs controllers while it leads, until asked to end or until leadership is lost. */
export async function runCluster(
  cluster: Cluster,
  process: ProcessContext,
  { stop, onWork }: ClusterSignals,
): Promise<ClusterEnd> {
  const { options, migration, registrations = CONTROLLERS, kube, state, observed, memories } = cluster;
  const { identity, tasks, metrics, log, clock, random } = process;
  // Caches fill and providers are greeted before leadership is sought: a standby takes over warm.
  for (const { name, informer } of kube.informers) tasks.start(`${name} informer`, (signal) => informer.run(signal));
  const id = await readClusterId({
    client: kube.client,
    log,
    clock,
    random,
    signal: stop,
    onFailure: (problem) => {
      state.identityProblem = problem;
    },
  });
  state.identityProblem = undefined;
  const isElected = holdsLease(options);
  const sequence = new ChangeSequence({ clock, log, isElected });
  const provider = connect(cluster, process, { id, sequence, isElected });
  state.provider = provider;
  tasks.start("provider connection", (signal) => provider.run(signal));
  const prepared = prepareControllers(
    { options, cluster: kube, providers: provider, program: process, plans: observed?.plans, memories },
    registrations,
  );
  const controllers: typeof prepared = {
    ...prepared,
    run: (isChosen, signals) => {
      onWork(signals.stop);
      onWork(signals.lost);
      return prepared.run(isChosen, signals);
    },
  };
  state.controllers = controllers;
  if (isElected) {
    const shared = { options, kube, provider, metrics, log, clock, random, controllers };
    const own = { identity, sequence, annotations: controllers.leaseAnnotations, migration, graceMs: GRACE_MS };
    state.election = new Election({ ...shared, ...own });
    return state.election.run(stop);
  }
  const signals = { stop, lost: new AbortController().signal, graceMs: GRACE_MS };
  await Promise.all([controllers.run(() => true, signals), aborted(stop)]);
  return "stopped";
}

interface Changes {
  /** Identity of the cluster. */
  readonly id: string;
  readonly sequence: ChangeSequence;
  readonly isElected: boolean;
}

function connect(
  { options, kube, state, observed, memories }: Cluster,
  { version, metrics, log, clock, random, newId, userId, tracing, tasks, audit, recording }: ProcessContext,
  { id, sequence, isElected }: Changes,
): Providers {
  return connectProviders({
    options,
    cluster: { id, name: options.clusterName },
    version,
    metrics,
    log,
    clock,
    random,
    newId,
    userId,
    tracing,
    filter: observed?.filter,
    audit: changeAudit(audit, options.auditEvents ? kube.events.recorder(CLOUD_CONTROLLER_MANAGER) : undefined),
    journal: memories.journal,
    recording,
    signal: tasks.signal,
    companions: () => kube.nodes.lister.byIndex(WAITING, WAITING),
    nodes: () => kube.nodes.lister.list(),
    numbers: sequence,
    scopeRemedy: (name) => scopeRemedy(name, { ...options, isElected }),
    onScopeChanged: (name, message) => reportScopeChange(state.election?.main, kube, name, message),
  });
}

/** Where it is put right: on the Lease. Without election there is none to look at, and the log says it. */
function reportScopeChange(
  elector: LeaderElector | undefined,
  kube: ClusterConnection,
  provider: string,
  message: string,
): void {
  if (elector === undefined) return;
  const event = providerScopeChanged(elector.reference, provider, message);
  kube.events.recorder(CLOUD_CONTROLLER_MANAGER).record(event);
}
