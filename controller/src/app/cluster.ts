import { CLOUD_CONTROLLER_MANAGER, NODE_ROUTE_CONTROLLER } from "../api/controller-names.ts";
import { WAITING, waitingIndex } from "../controllers/node/predicates.ts";
import { clusterCidrsOf, whyNoRoutes } from "../controllers/route/options.ts";
import { HistoryStores } from "../explain/history/stores.ts";
import { type OperatorEndpoints, operatorEndpoints } from "../explain/register.ts";
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

/** What the process has once, independent of clusters. */
export interface ProcessContext extends ProgramContext {
  readonly version: string;
  /** `linux/x64` */
  readonly platform: string;
  readonly host: string;
  readonly userId: number | undefined;
  /** Receives each mutating call of a provider. @default none */
  readonly audit?: AuditSink | undefined;
  /** Receives the traffic with providers. @default none */
  readonly recording?: RecordingSink | undefined;
  /** A task that fails ends the process. */
  readonly tasks: TaskGroup;
}

export interface ClusterSettings {
  /** Current values: reloadable options change at run time. */
  readonly options: Options;
  /** Leader migration between controller managers. @default none */
  readonly migration?: LeaderMigration | undefined;
  /** @default {@link CONTROLLERS} */
  readonly registrations?: readonly Registration<Options>[] | undefined;
}

export interface Cluster extends ClusterSettings {
  readonly access: ApiAccess;
  readonly kube: ClusterConnection;
  readonly state: ClusterState;
  readonly pages: OperatorEndpoints;
  readonly observed: Observing | undefined;
  readonly stores: HistoryStores;
}

export interface ClusterSignals {
  readonly stop: AbortSignal;
  /** Receives the signals that end the controllers when they start. */
  readonly onWork: (ends: AbortSignal) => void;
}

/** `lost`: another process may be the leader; this one must stop immediately and restart as a standby. */
export type ClusterEnd = "stopped" | "lost";

/** Everything of a cluster that exists before its caches are synced. Starts nothing. */
export function openCluster(settings: ClusterSettings, access: ApiAccess, process: ProcessContext): Cluster {
  const { options } = settings;
  const { version, platform, clock } = process;
  const observed = observing({ ...process, options });
  const stores = new HistoryStores(clock);
  const enabled = enabledControllers(options);
  const kube = connectCluster({
    ...process,
    access,
    options,
    userAgent: `cloudwire-controller-manager/v${version} (${platform})`,
    nodeIndexes: { [WAITING]: waitingIndex },
    isEnabled: (controller) => enabled.includes(controller),
    filter: observed?.filter,
    onEvent: stores.eventRecorded,
  });
  stores.follow(kube);
  const state = new ClusterState(options, kube.informers);
  const pages = operatorEndpoints({
    ...process,
    options,
    controllerNames: CONTROLLER_NAMES,
    hasRoutes: enabled.includes(NODE_ROUTE_CONTROLLER) && whyNoRoutes(options) === undefined,
    clusterCidrs: clusterCidrsOf(options),
    kube,
    state,
    observed,
    stores,
  });
  return { ...settings, access, kube, state, pages, observed, stores };
}

/** Syncs caches, connects providers and runs controllers while this process is the leader, until `stop` aborts or leadership is lost. */
export async function runCluster(
  cluster: Cluster,
  process: ProcessContext,
  { stop, onWork }: ClusterSignals,
): Promise<ClusterEnd> {
  const { options, migration, registrations = CONTROLLERS, kube, state, observed, stores } = cluster;
  const { tasks, log, clock } = process;
  // Before the election: a standby takes over with synced caches and connected providers.
  for (const { name, informer } of kube.informers) tasks.start(`${name} informer`, (signal) => informer.run(signal));
  const clusterId = await readClusterId({
    ...process,
    client: kube.client,
    signal: stop,
    onFailure: (problem) => {
      state.identityProblem = problem;
    },
  });
  state.identityProblem = undefined;
  const isElected = holdsLease(options);
  const sequence = new ChangeSequence({ clock, log, isElected });
  const provider = connect(cluster, process, { clusterId, sequence, isElected });
  state.provider = provider;
  tasks.start("provider connection", (signal) => provider.run(signal));
  const prepared = prepareControllers(
    { options, cluster: kube, providers: provider, program: process, plans: observed?.plans, stores },
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
    const annotations = controllers.leaseAnnotations;
    const parts = { options, kube, provider, controllers, sequence, annotations, migration, graceMs: GRACE_MS };
    state.election = new Election({ ...process, ...parts });
    return state.election.run(stop);
  }
  const signals = { stop, lost: new AbortController().signal, graceMs: GRACE_MS };
  await Promise.all([controllers.run(() => true, signals), aborted(stop)]);
  return "stopped";
}

interface ChangeContext {
  readonly clusterId: string;
  readonly sequence: ChangeSequence;
  readonly isElected: boolean;
}

function connect(
  { options, kube, state, observed, stores }: Cluster,
  process: ProcessContext,
  { clusterId, sequence, isElected }: ChangeContext,
): Providers {
  const events = options.auditEvents ? kube.events.recorder(CLOUD_CONTROLLER_MANAGER) : undefined;
  return connectProviders({
    ...process,
    options,
    cluster: { id: clusterId, name: options.clusterName },
    filter: observed?.filter,
    audit: changeAudit(process.audit, events),
    journal: stores.journal,
    signal: process.tasks.signal,
    companions: () => kube.nodes.lister.byIndex(WAITING, WAITING),
    nodes: () => kube.nodes.lister.list(),
    numbers: sequence,
    scopeRemedy: (name) => scopeRemedy(name, { ...options, isElected }),
    onScopeChanged: (name, message) => reportScopeChange(state.election?.main, kube, name, message),
  });
}

/** An event on the Lease, where an operator accepts the new scope. Without leader election there is no Lease, only the log. */
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
