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
import { type InformerDependencies, createInformer } from "./cache/informer.ts";
import { informerMetrics } from "./cache/metrics.ts";
import type { KubeClient, ListWatcher } from "./client.ts";
import { type ApiAccess, inClusterAccess } from "./connection/access.ts";
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
  /** Of this program, as client-go writes it (rest/config.go v0.36.3): audit logs are searched by it. */
  readonly userAgent: string;
  /** Of the informer of Nodes. @default none */
  readonly nodeIndexes?: Indexes<Node>;
  /** Controllers by name: nothing is watched for one that is off. */
  readonly isEnabled: (controller: string) => boolean;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly tracing: Tracing;
  /** Decides whether writes are made or only planned. @default they are made */
  readonly filter?: WriteFilter | undefined;
  /** Told of each Event. @default nobody is */
  readonly onEvent?: ((component: string, input: EventInput) => void) | undefined;
}

/** Everything that talks to the API server. */
export interface ClusterConnection {
  readonly client: KubeClient;
  /** With a limit of its own, so that a burst of other writes never costs the lease. */
  readonly electionClient: KubeClient & Pick<ListWatcher, "watch">;
  /** A client of its own for whoever decides who may read this process' pages. */
  readonly reviewClient: (access: ApiAccess) => KubeClient;
  readonly events: EventBroadcaster;
  readonly nodes: Informer<Node>;
  readonly services: Informer<Service>;
  /** Runs only where its controller is on. */
  readonly persistentVolumes: Informer<PersistentVolume>;
  /** Runs only where its controller is on. */
  readonly kubeletServingRequests: Informer<CertificateSigningRequest>;
  /** All that are to run, from the start on: a standby is warm. */
  readonly informers: readonly NamedInformer[];
  close(): Promise<void>;
}

export interface NamedInformer {
  /** Plural of its kind. */
  readonly name: string;
  readonly informer: Informer<KubeObject>;
}

type Indexes<T> = Readonly<Record<string, IndexFunction<T>>>;

export function connectCluster(dependencies: ClusterConnectionDependencies): ClusterConnection {
  const { access, options, metrics, log, clock, random, filter } = dependencies;
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
  const informerOf = <T extends KubeObject>(resource: Resource<T>, indexes: Indexes<T> = {}): Informer<T> => {
    const client = clientOf(unlimited, "shared-informers");
    return createInformer({ ...common, resource, indexes, client, metrics: informerMetricsOf(resource.kind) });
  };
  const nodes = informerOf(NODES, dependencies.nodeIndexes);
  const services = informerOf(SERVICES);
  const persistentVolumes = informerOf(PERSISTENT_VOLUMES);
  const requests = kubeletServingRequests({
    ...common,
    client: clientOf(unlimited, "shared-informers"),
    metrics: informerMetricsOf("CertificateSigningRequest"),
  });
  const informers = runningInformers(dependencies.isEnabled, { nodes, services, persistentVolumes, requests });
  const client = clientOf(main, "cloud-controllers", dependencies.tracing);
  return {
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
    kubeletServingRequests: requests,
    informers,
    close: async () => {
      await Promise.all([main, unlimited, ...reviewers].map((transport) => transport.close()));
    },
  };
}

interface Caches {
  readonly nodes: Informer<Node>;
  readonly services: Informer<Service>;
  readonly persistentVolumes: Informer<PersistentVolume>;
  readonly requests: Informer<CertificateSigningRequest>;
}

function runningInformers(
  isEnabled: (controller: string) => boolean,
  { nodes, services, persistentVolumes, requests }: Caches,
): readonly NamedInformer[] {
  return [
    { name: "nodes", informer: nodes },
    { name: "services", informer: services },
    ...(isEnabled(PERSISTENT_VOLUME_LABEL_CONTROLLER)
      ? [{ name: "persistentvolumes", informer: persistentVolumes }]
      : []),
    ...(isEnabled(KUBELET_SERVING_CSR_APPROVER) ? [{ name: "certificatesigningrequests", informer: requests }] : []),
  ];
}

function limiterOf({ kubeApiQps, kubeApiBurst }: ClusterConnectionDependencies["options"], clock: Clock) {
  return kubeApiQps === 0 ? undefined : new TokenBucket({ perSecond: kubeApiQps, burst: kubeApiBurst }, clock);
}

export interface KubeAccessDependencies {
  readonly options: Pick<KubeOptions, "kubeconfig" | "master">;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** The API server that the settings name. Rejects with AccessError: nothing to wait for, an operator must act. */
export function kubeAccess({ options, environment, clock }: KubeAccessDependencies): Promise<ApiAccess> {
  const { kubeconfig, master } = options;
  if (kubeconfig !== "")
    return kubeconfigAccess({ path: kubeconfig, clock, ...(master === "" ? {} : { server: master }) });
  return master === "" ? inClusterAccess({ environment, clock }) : Promise.resolve(bareAccess(master));
}

/** Without credentials, as `kubectl proxy` is reached. */
function bareAccess(server: string): ApiAccess {
  return {
    server,
    description: `--master ${server}, without credentials`,
    proxyUrl: undefined,
    credentials: async () => ({ headers: {}, tls: {} }),
  };
}

/** Its UID is the identity of the cluster: unique in the world, constant for the cluster's life (KEP-2149). */
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
  /** Told why it is not known yet, each time a try fails. */
  readonly onFailure: (problem: string) => void;
}

/** Asks the API server who the cluster is until it answers: without identity no call to a provider is possible. */
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
      log.warn("Cannot read the identity of the cluster yet, trying on", { namespace: IDENTITY_NAMESPACE, problem });
    }
    await sleep(backoff.nextMs(), signal, clock);
  }
}

type InformerParts = Omit<InformerDependencies<CertificateSigningRequest>, "resource" | "indexes" | "listBy">;

/** The cache of kubelet-serving requests. */
function kubeletServingRequests({ client, ...parts }: InformerParts): Informer<CertificateSigningRequest> {
  return createInformer({ ...parts, client: ofServingSigner(client), resource: CERTIFICATE_SIGNING_REQUESTS });
}

/** Requests of other signers are not even read. */
function ofServingSigner(client: ListWatcher): ListWatcher {
  const fieldSelector = `spec.signerName=${KUBELET_SERVING_SIGNER}`;
  return {
    list: (resource, options) => client.list(resource, { ...options, fieldSelector }),
    watch: (resource, options) => client.watch(resource, { ...options, fieldSelector }),
  };
}
