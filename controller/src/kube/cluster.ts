import { type CertificateSigningRequest, KUBELET_SERVING_SIGNER } from "../api/certificate-signing-request.ts";
import { KUBELET_SERVING_CSR_APPROVER, PERSISTENT_VOLUME_LABEL_CONTROLLER } from "../api/controller-names.ts";
import type { EventInput } from "../api/event.ts";
import type { KubeObject, ObjectMeta } from "../api/meta.ts";
import type { Node } from "../api/node.ts";
import type { PersistentVolume } from "../api/persistent-volume.ts";
import type { Service } from "../api/service.ts";
import type { KubeOptions } from "./options.ts";
import type { WriteFilter } from "../observe/write-filter.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { NO_TRACING, type Tracing } from "../telemetry/tracing.ts";
import { sleep } from "../util/abort.ts";
import { Backoff } from "../util/backoff.ts";
import type { Clock, Random } from "../util/clock.ts";
import { messageOf } from "../util/errors.ts";
import { TokenBucket } from "../util/token-bucket.ts";
import type { IndexFunction, Informer } from "./cache/lister.ts";
import { createInformer } from "./cache/informer.ts";
import { informerMetrics } from "./cache/metrics.ts";
import type { KubeClient, ListWatcher } from "./client.ts";
import { type ApiAccess, type InClusterDependencies, inClusterAccess } from "./connection/access.ts";
import { kubeconfigAccess } from "./connection/kubeconfig.ts";
import { restMetrics } from "./connection/metrics.ts";
import { Transport } from "./connection/transport.ts";
import { EventBroadcaster } from "./events/broadcaster.ts";
import { eventMetrics } from "./events/metrics.ts";
import { HttpKubeClient } from "./http-client.ts";
import { PlanningKubeClient } from "./planning-client.ts";
import { CERTIFICATE_SIGNING_REQUESTS } from "./resources/certificate-signing-request.ts";
import { type Resource, metaFromJson } from "./resources/codec.ts";
import { NODES } from "./resources/node.ts";
import { PERSISTENT_VOLUMES } from "./resources/persistent-volume.ts";
import { SERVICES } from "./resources/service.ts";

export interface ClusterConnectionDependencies {
  readonly access: ApiAccess;
  readonly options: Pick<KubeOptions, "kubeApiQps" | "kubeApiBurst">;
  /** In client-go's format (rest/config.go v0.36.3): audit logs are searched by it. */
  readonly userAgent: string;
  /** Indexes of the Node informer. @default none */
  readonly nodeIndexes?: Indexes<Node>;
  /** Whether a controller (by name) is enabled; disabled ones need no watch. */
  readonly isEnabled: (controller: string) => boolean;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly tracing: Tracing;
  /** Decides whether writes are made or only planned. @default they are made */
  readonly filter?: WriteFilter | undefined;
  /** Receives each Event. @default none */
  readonly onEvent?: ((component: string, input: EventInput) => void) | undefined;
}

/** Clients, informers and events of one cluster. */
export interface ClusterConnection {
  /** Host name or IP address at which the API server is called. */
  readonly apiServerHost: string;
  readonly client: KubeClient;
  /** A separate client, so that a burst of writes never delays the Lease. */
  readonly electionClient: KubeClient & Pick<ListWatcher, "watch">;
  /** A client for authentication and authorization reviews. */
  readonly reviewClient: (access: ApiAccess) => KubeClient;
  readonly events: EventBroadcaster;
  readonly nodes: Informer<Node>;
  readonly services: Informer<Service>;
  /** Runs only where its controller is on. */
  readonly persistentVolumes: Informer<PersistentVolume>;
  /** Runs only where its controller is on. */
  readonly kubeletServingRequests: Informer<CertificateSigningRequest>;
  /** The informers to run, also on a standby. */
  readonly informers: readonly NamedInformer[];
  close(): Promise<void>;
}

export interface NamedInformer {
  readonly name: string;
  readonly informer: Informer<KubeObject>;
}

type Indexes<T> = Readonly<Record<string, IndexFunction<T>>>;

export function connectCluster(dependencies: ClusterConnectionDependencies): ClusterConnection {
  const { access, options, isEnabled, metrics, log, clock, random, filter } = dependencies;
  const measured = restMetrics(metrics);
  const limited = limiterOf(options, clock);
  const reaching = { access, clock, metrics: measured, isReadOnly: filter?.isReadOnly === true };
  const main = new Transport({ ...reaching, limiter: limited });
  const unlimited = new Transport({ ...reaching, limiter: undefined });
  const common = { clock, random, log };
  const clientOf = (transport: Transport, identity: string, tracing = NO_TRACING) =>
    new HttpKubeClient({
      transport,
      clock,
      metrics: measured,
      userAgent: `${dependencies.userAgent} ${identity}`,
      tracing,
    });
  const reviewers: Transport[] = [];
  const informerMetricsOf = informerMetrics(metrics);
  const informerOf = <T extends KubeObject>(resource: Resource<T>, indexes: Indexes<T> = {}, limited = unchanged) => {
    const client = limited(clientOf(unlimited, "shared-informers"));
    return createInformer({ ...common, resource, indexes, client, metrics: informerMetricsOf(resource.kind) });
  };
  const nodes = informerOf(NODES, dependencies.nodeIndexes);
  const services = informerOf(SERVICES);
  const persistentVolumes = informerOf(PERSISTENT_VOLUMES);
  const kubeletServingRequests = informerOf(CERTIFICATE_SIGNING_REQUESTS, {}, ofServingSigner);
  const informers = [
    { name: "nodes", informer: nodes },
    { name: "services", informer: services },
    { name: "persistentvolumes", informer: persistentVolumes, controller: PERSISTENT_VOLUME_LABEL_CONTROLLER },
    { name: "certificatesigningrequests", informer: kubeletServingRequests, controller: KUBELET_SERVING_CSR_APPROVER },
  ];
  const client = clientOf(main, "cloud-controllers", dependencies.tracing);
  return {
    apiServerHost: hostOf(access.server),
    client: filter === undefined ? client : new PlanningKubeClient(client, filter),
    electionClient: clientOf(unlimited, "leader-election"),
    reviewClient: (reviewer) => {
      const transport = new Transport({ access: reviewer, clock, metrics: measured, limiter: undefined });
      reviewers.push(transport);
      return clientOf(transport, "reviews");
    },
    events: new EventBroadcaster({
      ...common,
      client: clientOf(unlimited, "events"),
      metrics: eventMetrics(metrics),
      isSilent: () => filter?.isSilent === true,
      ...(dependencies.onEvent && { onRecord: dependencies.onEvent }),
    }),
    nodes,
    services,
    persistentVolumes,
    kubeletServingRequests,
    informers: informers.filter(({ controller }) => controller === undefined || isEnabled(controller)),
    close: async () => {
      await Promise.all([main, unlimited, ...reviewers].map((transport) => transport.close()));
    },
  };
}

function hostOf(server: string): string {
  return new URL(server).hostname.replace(/^\[(.*)\]$/, "$1");
}

function limiterOf({ kubeApiQps, kubeApiBurst }: ClusterConnectionDependencies["options"], clock: Clock) {
  return kubeApiQps === 0 ? undefined : new TokenBucket({ perSecond: kubeApiQps, burst: kubeApiBurst }, clock);
}

export interface KubeAccessDependencies extends Pick<InClusterDependencies, "environment" | "clock"> {
  readonly options: Pick<KubeOptions, "kubeconfig" | "master">;
}

/** Access to the configured API server. Rejects with AccessError, which retries cannot fix. */
export async function kubeAccess({ options, environment, clock }: KubeAccessDependencies): Promise<ApiAccess> {
  const { kubeconfig, master: server } = options;
  if (kubeconfig !== "") return kubeconfigAccess({ path: kubeconfig, clock, ...(server !== "" && { server }) });
  if (server === "") return inClusterAccess({ environment, clock });
  // As for `kubectl proxy`.
  const credentials = async () => ({ headers: {}, tls: {} });
  return { server, description: `--master ${server}, without credentials`, proxyUrl: undefined, credentials };
}

/** Its UID identifies the cluster: globally unique and constant for the cluster's life (KEP-2149). */
const IDENTITY_NAMESPACE = "kube-system";

const NAMESPACES: Resource<{ readonly metadata: ObjectMeta }> = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
  fromJson: (object) => ({ metadata: metaFromJson(object) }),
};

export interface ClusterIdentityDependencies {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Called with the cause of each failed attempt. */
  readonly onFailure: (problem: string) => void;
}

/** Retries until the API server returns the cluster ID: calls to providers require it. */
export async function readClusterId(dependencies: ClusterIdentityDependencies): Promise<string> {
  const { client, log, clock, random, signal, onFailure } = dependencies;
  const backoff = new Backoff({ initialMs: 500, maxMs: 10_000, jitter: 0.2 }, random);
  for (;;) {
    try {
      const namespace = await client.get(NAMESPACES, { name: IDENTITY_NAMESPACE }, { signal, timeoutMs: 10_000 });
      return namespace.metadata.uid;
    } catch (error) {
      signal.throwIfAborted();
      const problem = messageOf(error);
      onFailure(problem);
      log.warn("Could not read the cluster ID; retrying", { namespace: IDENTITY_NAMESPACE, detail: problem });
    }
    await sleep(backoff.nextMs(), signal, clock);
  }
}

function unchanged(client: ListWatcher): ListWatcher {
  return client;
}

/** Reads only the requests of that signer. */
function ofServingSigner(client: ListWatcher): ListWatcher {
  const fieldSelector = `spec.signerName=${KUBELET_SERVING_SIGNER}`;
  return {
    list: (resource, options) => client.list(resource, { ...options, fieldSelector }),
    watch: (resource, options) => client.watch(resource, { ...options, fieldSelector }),
  };
}
