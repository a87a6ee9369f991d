import { randomUUID } from "node:crypto";
import type { Server, ServerCredentials } from "@grpc/grpc-js";
import { CloudFetcher } from "../cloud/cloud-fetch.ts";
import { toCapabilities, toLimits } from "./convert/capabilities.ts";
import { createProviderIds } from "./convert/provider-ids.ts";
import type { ProviderDefinition } from "../definition/provider.ts";
import type { Logger } from "../telemetry/log.ts";
import { noMetrics, type ProviderMetrics } from "../telemetry/metrics.ts";
import type { RpcService } from "./rpc/method.ts";
import { createCloudProviderService } from "./methods/cloud-provider.ts";
import { createHealthService } from "./health.ts";
import { createGetProviderInfo, type HandshakeFacts } from "./identity.ts";
import { createReflectionServices, reflectionServices } from "./reflection.ts";
import { draining, type ProviderRuntime } from "./runtime.ts";
import { defaultIntervals, StatusMonitor } from "./status-monitor.ts";
import { loadCallSpans } from "../telemetry/call-spans.ts";
import { type Clock, every, systemClock } from "../util/clock.ts";
import { RuleChecker } from "@cloudwire/proto/rule-checker";
import { factProblems, shapeProblems } from "./validation/definition-problems.ts";
import type { Endpoint } from "./listen/endpoint.ts";
import { createGrpcServer, shutDown } from "./listen/grpc-server.ts";
import { type HttpAddress, type HttpPort, serveHttp } from "./listen/http-port.ts";
import { type Listener, listen } from "./listen/listener.ts";
import { MutualTls } from "./listen/mutual-tls.ts";
import { serverCredentials, type TransportSecurity } from "./listen/server-credentials.ts";
import { ProviderStartError } from "./start-error.ts";
import { sdkVersion } from "./version.ts";

/** Options of {@link startProvider}; nothing is read from the environment. */
export interface StartOptions extends TransportSecurity {
  /** Where to listen. */
  readonly endpoint: Endpoint;
  /** Logger of the provider. */
  readonly log: Logger;
  /** Address of `/livez`, `/readyz` and `/metrics` over HTTP. Default: not served. */
  readonly httpAddress?: HttpAddress | undefined;
  /** Group of the socket, name or number. Default: the group of the process. */
  readonly socketGroup?: string | undefined;
  /** Maximum time for calls in progress to complete. Default: 10 s. */
  readonly drainMs?: number | undefined;
  /** How often to check that the socket still exists. Default: 10 s. */
  readonly socketCheckMs?: number | undefined;
  /** How often TLS files are read again. Default: 10 s; the contract requires at most 60 s. */
  readonly tlsReloadMs?: number | undefined;
  /**
   * Clock for checks, deadlines, heartbeats and ages, except two that depend on the other side: draining, and the time that the reader of
   * a stream may be blocked. Default: the system clock.
   */
  readonly clock?: Clock | undefined;
  /** Intervals and time limit of the checks of the cloud. Default: 60 s while ready, 10 s while not, 10 s. */
  readonly checkIntervals?:
    | { readonly goodIntervalMs: number; readonly badIntervalMs: number; readonly timeoutMs: number }
    | undefined;
}

/** A running provider. */
export interface RunningProvider {
  /** Where callers connect: `unix:///run/cloud-provider/provider.sock`, `127.0.0.1:9443`. */
  readonly address: string;
  /** Address of `/livez`, `/readyz` and `/metrics`, `127.0.0.1:9102`; undefined: not served. */
  readonly httpAddress: string | undefined;
  /** Random ID of this process, as in the handshake. */
  readonly bootId: string;
  /**
   * Shuts down gracefully: sets health to NOT_SERVING, ends watches, rejects new calls, waits for calls in progress, and removes the
   * socket. May be called more than once.
   */
  readonly close: () => Promise<void>;
  /**
   * Resolves when the provider has closed: `closed` after {@link RunningProvider.close}, `socketLost` if the socket was removed or
   * replaced, so that no client could connect any longer.
   */
  readonly closed: Promise<"closed" | "socketLost">;
}

const cloudProviderService = "cloudprovider.v1.CloudProvider";
const healthService = "grpc.health.v1.Health";

const defaultDrainMs = 10_000;
const defaultSocketCheckMs = 10_000;
const defaultTlsReloadMs = 10_000;

/**
 * Serves a provider inside another program, such as a test. Throws {@link ProviderStartError} with every error in the definition, or if
 * the endpoint is unavailable.
 */
export const startProvider = async (
  definition: ProviderDefinition,
  options: StartOptions,
): Promise<RunningProvider> => {
  const { log, clock = systemClock } = options;
  throwIfAny(shapeProblems(definition));
  const drain = new AbortController();
  const force = new AbortController();
  const facts = handshakeFacts(options.endpoint);
  const bootId = randomUUID();
  const intervals = options.checkIntervals ?? defaultIntervals;
  const cloud = new CloudFetcher({ clock, random: Math.random, transport: (input, init) => fetch(input, init) });
  const metrics = options.httpAddress ? await loadMetrics(definition, facts, () => status.ready) : undefined;
  const { cloudCall: cloudCalled } = metrics ?? noMetrics;
  const status: StatusMonitor = new StatusMonitor({ definition, bootId, log, clock, cloud, cloudCalled, ...intervals });
  const runtime = createRuntime(definition, {
    bootId,
    log,
    clock,
    cloud,
    cloudCalled,
    status,
    draining: drain.signal,
  });
  throwIfAny(factProblems(createGetProviderInfo(runtime, facts)(), runtime.rules));
  const credentials = await serverCredentials(options.endpoint, options);
  const server = createGrpcServer({
    runtime,
    services: [
      { service: createCloudProviderService(runtime, status, facts), refuseWhileDraining: true },
      { service: createHealthService(facts.services, drain.signal), refuseWhileDraining: false },
      ...reflection(facts.services).map((service) => ({ service, refuseWhileDraining: true })),
    ],
    serverSignal: force.signal,
    spans: await loadCallSpans(),
    metrics: metrics ?? noMetrics,
  });
  const whyNotReady = () => (drain.signal.aborted ? "shutting down" : status.whyNotReady);
  const http = await openHttp(options.httpAddress, metrics, whyNotReady);
  const listener = await listen(server, options.endpoint, credentials, options.socketGroup).catch(async (error) => {
    await http?.close();
    throw error;
  });
  // The handshake is served meanwhile; a cloud that is down must not keep the controller from hearing so.
  void status.start();
  return attend({ server, listener, http, status, drain, force }, { bootId, credentials, options });
};

/** The running parts. */
interface Parts {
  readonly server: Server;
  readonly listener: Listener;
  readonly http: HttpPort | undefined;
  readonly status: StatusMonitor;
  readonly drain: AbortController;
  readonly force: AbortController;
}

/** Supervises the running parts until they are closed or the socket is lost. */
const attend = (
  parts: Parts,
  facts: { readonly bootId: string; readonly credentials: ServerCredentials; readonly options: StartOptions },
): RunningProvider => {
  const { bootId, credentials, options } = facts;
  const { listener, http } = parts;
  const { log, clock = systemClock } = options;
  const closed = Promise.withResolvers<"closed" | "socketLost">();
  const end = async (reason: "closed" | "socketLost"): Promise<void> => {
    endWatch();
    endReload();
    await close(parts, options.drainMs ?? defaultDrainMs);
    closed.resolve(reason);
  };
  const endReload = followTlsFiles(credentials, { log, clock, intervalMs: options.tlsReloadMs ?? defaultTlsReloadMs });
  const closing: { done?: Promise<void> } = {};
  const lost = () => {
    log.error("The socket was removed or replaced: no client can connect any longer", {
      address: listener.address,
    });
    closing.done ??= end("socketLost");
  };
  // Whether callers can still come.
  const look = async () => {
    if (!(await listener.isReachable())) lost();
  };
  const endWatch = every(clock, options.socketCheckMs ?? defaultSocketCheckMs, () => void look());
  return {
    address: listener.address,
    httpAddress: http?.address,
    bootId,
    close: () => {
      closing.done ??= end("closed");
      return closing.done;
    },
    closed: closed.promise,
  };
};

/** Loads the metrics library only if metrics are served. */
const loadMetrics = async (
  { name, version }: ProviderDefinition,
  { sdkVersion: sdk, runtimeVersion }: HandshakeFacts,
  isReady: () => boolean,
): Promise<ProviderMetrics> => {
  const { createPrometheusMetrics } = await import("../telemetry/metrics.ts");
  return createPrometheusMetrics({ name, version, sdkVersion: sdk, runtimeVersion, isReady });
};

const openHttp = async (
  address: HttpAddress | undefined,
  metrics: ProviderMetrics | undefined,
  whyNotReady: () => string | undefined,
): Promise<HttpPort | undefined> =>
  address && metrics ? serveHttp({ address, whyNotReady, metrics: metrics.render }) : undefined;

/** Reads TLS files repeatedly and compares their content, because mounted Secrets change by symbolic link. */
const followTlsFiles = (
  credentials: ServerCredentials,
  { log, clock, intervalMs }: { readonly log: Logger; readonly clock: Clock; readonly intervalMs: number },
): (() => void) => {
  if (!(credentials instanceof MutualTls)) return () => undefined;
  credentials.warnIfExpired(log, clock.nowMs());
  return every(clock, intervalMs, () => void credentials.reload(log, clock.nowMs()));
};

const throwIfAny = (problems: readonly string[]): void => {
  if (problems.length > 0) throw new ProviderStartError("CONFIG_INVALID", problems);
};

const handshakeFacts = (endpoint: Endpoint): HandshakeFacts => ({
  // No reflection on TCP.
  services: [cloudProviderService, healthService, ...(endpoint.kind === "unix" ? reflectionServices : [])],
  sdkVersion,
  runtimeVersion: `node ${process.version}`,
});

const createRuntime = (
  definition: ProviderDefinition,
  parts: {
    readonly bootId: string;
    readonly log: Logger;
    readonly clock: Clock;
    readonly cloud: CloudFetcher;
    readonly cloudCalled: ProviderRuntime["cloudCalled"];
    readonly status: StatusMonitor;
    readonly draining: AbortSignal;
  },
): ProviderRuntime => ({
  definition,
  bootId: parts.bootId,
  ids: createProviderIds(definition.idPrefixes ?? [definition.idPrefix]),
  capabilities: toCapabilities(definition),
  limits: toLimits(definition.limits),
  rules: new RuleChecker(),
  scopeId: () => parts.status.scopeId,
  observe: (outcome) => parts.status.observe(outcome),
  cloud: parts.cloud,
  cloudCalled: parts.cloudCalled,
  draining: parts.draining,
  log: parts.log,
  nowMs: parts.clock.nowMs,
  clock: parts.clock,
});

const reflection = (services: readonly string[]): readonly RpcService[] =>
  reflectionServices.some((name) => services.includes(name))
    ? createReflectionServices({
        services,
        // Descriptors and their reader are large, and most processes are never asked.
        descriptors: async () => {
          const [{ readDescriptorSet }, { indexDescriptors }] = await Promise.all([
            import("@cloudwire/proto/descriptor-set"),
            import("./descriptor-index.ts"),
          ]);
          return indexDescriptors(readDescriptorSet());
        },
      })
    : [];

const close = async ({ server, listener, http, status, drain, force }: Parts, drainMs: number): Promise<void> => {
  // Health turns, watches end and new calls are refused, all by this signal.
  drain.abort(draining());
  await listener.release(() => shutDown(server, force, drainMs));
  await status.stop();
  // Last: until then probes hear that it shuts down.
  await http?.close();
};
