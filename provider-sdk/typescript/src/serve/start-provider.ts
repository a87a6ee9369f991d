import { randomUUID } from "node:crypto";
import { Server, type ServerCredentials } from "@grpc/grpc-js";
import { toCapabilities, toLimits } from "../convert/capabilities.ts";
import { createProviderIds } from "../convert/provider-ids.ts";
import type { ProviderDefinition } from "../definition/provider.ts";
import type { Logger } from "../log/logger.ts";
import { callFields } from "../rpc/call-fields.ts";
import { tolerateHugeDeadlines, tolerateMassCancellation } from "../rpc/grpc-js-gaps.ts";
import { type RpcDeps, toGrpcService } from "../rpc/grpc-service.ts";
import type { RpcService } from "../rpc/method.ts";
import { createCloudProviderService } from "../services/cloud-provider.ts";
import { createHealthService } from "../services/health.ts";
import { createGetProviderInfo, type HandshakeFacts } from "../services/identity.ts";
import { createReflectionServices, reflectionServices } from "../services/reflection.ts";
import { draining, type ProviderRuntime } from "../services/runtime.ts";
import { defaultIntervals, StatusMonitor } from "../services/status-monitor.ts";
import { type CallSpans, loadCallSpans } from "../trace/call-spans.ts";
import { RuleChecker } from "../validation/rule-checker.ts";
import { factProblems, shapeProblems } from "./definition-problems.ts";
import type { Endpoint } from "./endpoint.ts";
import { type Listener, listen } from "./listener.ts";
import { MutualTls } from "./mutual-tls.ts";
import { serverCredentials, type TransportSecurity } from "./server-credentials.ts";
import { ProviderStartError } from "./start-error.ts";
import { sdkVersion } from "./version.ts";

/** How a provider is served; nothing is read from the environment. */
export interface StartOptions extends TransportSecurity {
  readonly endpoint: Endpoint;
  readonly log: Logger;
  /** Group that gets the socket, name or number. Default: the process's. */
  readonly socketGroup?: string | undefined;
  /** Longest time that calls under way have to end. Default: 10 s. */
  readonly drainMs?: number | undefined;
  /** How often to look whether the socket is still there. Default: 10 s. */
  readonly socketCheckMs?: number | undefined;
  /** How often TLS files are read again. Default: 10 s; the contract asks for 60 s at the most. */
  readonly tlsReloadMs?: number | undefined;
  /** How often the cloud is checked, and for how long. Default: 60 s while all is well, 10 s while not, 10 s. */
  readonly checkIntervals?:
    | { readonly goodIntervalMs: number; readonly badIntervalMs: number; readonly timeoutMs: number }
    | undefined;
}

/** A provider that is being served. */
export interface RunningProvider {
  /** Where callers connect: `unix:///run/cloud-provider/provider.sock`, `127.0.0.1:9443`. */
  readonly address: string;
  /** Random id of this process, as in the handshake. */
  readonly bootId: string;
  /**
   * Ends it in order: health says not serving, watches end, new calls are refused, calls under way get their time, the
   * socket is removed. May be called more than once.
   */
  readonly close: () => Promise<void>;
  /**
   * Why it ended, once it has: it was closed, or somebody removed or replaced its socket, so that nobody can reach it any
   * more and it closed itself.
   */
  readonly ended: Promise<"closed" | "socketLost">;
}

const cloudProviderService = "cloudprovider.v1.CloudProvider";
const healthService = "grpc.health.v1.Health";

/** Contract TRN-6 asks for 100. Callers queue the rest, so that cancelling many at once stays harmless: see grpc-js-gaps.ts. */
const maxStreamsPerConnection = 256;

const defaultDrainMs = 10_000;
const defaultSocketCheckMs = 10_000;
const defaultTlsReloadMs = 10_000;
/** How long aborted calls have to send their answer before the connections are cut. */
const forceGraceMs = 250;
const slowConsumerMs = 30_000;

/**
 * Serves a provider inside a process that somebody else looks after, as tests do. Throws {@link ProviderStartError} with
 * every mistake in the definition, or when the endpoint cannot be had.
 */
export const startProvider = async (
  definition: ProviderDefinition,
  options: StartOptions,
): Promise<RunningProvider> => {
  const { log } = options;
  throwIfAny(shapeProblems(definition));
  const drain = new AbortController();
  const force = new AbortController();
  const facts = handshakeFacts(options.endpoint);
  const bootId = randomUUID();
  const intervals = options.checkIntervals ?? defaultIntervals;
  const status = new StatusMonitor({ definition, bootId, log, nowMs: Date.now, ...intervals });
  const runtime = createRuntime(definition, { bootId, log, status, draining: drain.signal });
  throwIfAny(factProblems(createGetProviderInfo(runtime, facts)(), runtime.rules));
  const credentials = await serverCredentials(options.endpoint, options);
  const server = createServer(
    runtime,
    [
      { service: createCloudProviderService(runtime, status, facts), refuseWhileDraining: true },
      { service: createHealthService(facts.services, drain.signal), refuseWhileDraining: false },
      ...reflection(facts.services).map((service) => ({ service, refuseWhileDraining: true })),
    ],
    force.signal,
    await loadCallSpans(),
  );
  const listener = await listen(server, options.endpoint, credentials, options.socketGroup);
  // The handshake is served meanwhile; a cloud that is down must not keep the controller from hearing so.
  void status.start();
  const ended = Promise.withResolvers<"closed" | "socketLost">();
  const end = async (reason: "closed" | "socketLost"): Promise<void> => {
    clearInterval(watch);
    clearInterval(reload);
    await close({ server, listener, status, drain, force, drainMs: options.drainMs ?? defaultDrainMs });
    ended.resolve(reason);
  };
  const reload = followTlsFiles(credentials, log, options.tlsReloadMs ?? defaultTlsReloadMs);
  const closing: { done?: Promise<void> } = {};
  const watch = watchSocket(listener, options.socketCheckMs ?? defaultSocketCheckMs, () => {
    log.error("The socket was removed or replaced: nobody can reach this provider any more", {
      address: listener.address,
    });
    closing.done ??= end("socketLost");
  });
  return {
    address: listener.address,
    bootId,
    close: () => {
      closing.done ??= end("closed");
      return closing.done;
    },
    ended: ended.promise,
  };
};

/** Looks again and again whether callers can still come. */
const watchSocket = (listener: Listener, intervalMs: number, lost: () => void): NodeJS.Timeout => {
  const look = async () => {
    if (!(await listener.isReachable())) lost();
  };
  return setInterval(() => void look(), intervalMs).unref();
};

/** Reads TLS files again and again; content is compared, because mounted Secrets change by symbolic link. */
const followTlsFiles = (
  credentials: ServerCredentials,
  log: Logger,
  intervalMs: number,
): NodeJS.Timeout | undefined => {
  if (!(credentials instanceof MutualTls)) return undefined;
  credentials.warnIfExpired(log, Date.now());
  return setInterval(() => void credentials.reload(log, Date.now()), intervalMs).unref();
};

const throwIfAny = (problems: readonly string[]): void => {
  if (problems.length > 0) throw new ProviderStartError("CONFIG_INVALID", problems);
};

const handshakeFacts = (endpoint: Endpoint): HandshakeFacts => ({
  // On TCP nobody gets a map of what there is to call.
  services: [cloudProviderService, healthService, ...(endpoint.kind === "unix" ? reflectionServices : [])],
  sdkVersion,
  runtimeVersion: `node ${process.version}`,
});

const createRuntime = (
  definition: ProviderDefinition,
  parts: {
    readonly bootId: string;
    readonly log: Logger;
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
  draining: parts.draining,
  log: parts.log,
  nowMs: Date.now,
});

const reflection = (services: readonly string[]): readonly RpcService[] =>
  reflectionServices.some((name) => services.includes(name))
    ? createReflectionServices({
        services,
        // Descriptors and their reader are large, and most processes are never asked.
        descriptors: async () => {
          const [{ readDescriptorSet }, { indexDescriptors }] = await Promise.all([
            import("@cloudwire/proto/descriptor-set"),
            import("../services/descriptor-index.ts"),
          ]);
          return indexDescriptors(readDescriptorSet());
        },
      })
    : [];

interface ServedService {
  readonly service: RpcService;
  readonly refuseWhileDraining: boolean;
}

const createServer = (
  runtime: ProviderRuntime,
  services: readonly ServedService[],
  serverSignal: AbortSignal,
  spans: CallSpans | undefined,
): Server => {
  const server = new Server({
    "grpc.max_receive_message_length": Number(runtime.limits.maxReceiveBytes),
    // Answers are bounded by the contract's own limits.
    "grpc.max_send_message_length": -1,
    "grpc.max_concurrent_streams": maxStreamsPerConnection,
    // Leaked in several versions (grpc-node 1941, 2393), and nobody reads it.
    "grpc.enable_channelz": 0,
    interceptors: [tolerateHugeDeadlines(runtime.nowMs)],
  });
  tolerateMassCancellation(server);
  for (const { service, refuseWhileDraining } of services) {
    const deps: RpcDeps = {
      hooks: {
        admit: () => {
          if (refuseWhileDraining && runtime.draining.aborted) throw draining();
        },
        ended: (call, outcome, elapsedMs) => {
          runtime.log.debug("Answered", { ...callFields(call), outcome, elapsedMs });
        },
      },
      log: runtime.log,
      nowMs: runtime.nowMs,
      serverSignal,
      slowConsumerMs,
      // Health checks would be a trace of their own, every few seconds.
      spans: service.fullName === cloudProviderService ? spans : undefined,
    };
    const { definition, implementation } = toGrpcService(service, deps);
    server.addService(definition, implementation);
  }
  return server;
};

const close = async (parts: {
  readonly server: Server;
  readonly listener: Listener;
  readonly status: StatusMonitor;
  readonly drain: AbortController;
  readonly force: AbortController;
  readonly drainMs: number;
}): Promise<void> => {
  // Health turns, watches end and new calls are refused, all by this signal.
  parts.drain.abort(draining());
  await parts.listener.release(() => shutDown(parts.server, parts.force, parts.drainMs));
  await parts.status.stop();
};

const shutDown = async (server: Server, force: AbortController, drainMs: number): Promise<void> => {
  const stopped = new Promise<void>((resolve) => {
    server.tryShutdown(() => resolve());
  });
  if (await within(stopped, drainMs)) return;
  force.abort(draining());
  if (!(await within(stopped, forceGraceMs))) server.forceShutdown();
};

const within = async (work: Promise<void>, ms: number): Promise<boolean> => {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), ms);
  const done = await Promise.race([work.then(() => true), late.promise]);
  clearTimeout(timer);
  return done;
};
