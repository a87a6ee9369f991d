import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { codeNames } from "@cloudwire/proto/codes";
import { Server } from "@grpc/grpc-js";
import { noMetrics, type ProviderMetrics } from "../../telemetry/metrics.ts";
import { callFields } from "../rpc/call-fields.ts";
import { tolerateHugeDeadlines, tolerateMassCancellation } from "../rpc/grpc-js-gaps.ts";
import { type RpcDeps, toGrpcService } from "../rpc/grpc-service.ts";
import type { RpcService } from "../rpc/method.ts";
import { draining, type ProviderRuntime } from "../runtime.ts";
import type { CallSpans } from "../../telemetry/call-spans.ts";

/** Contract TRN-6 asks for 100. Callers queue the rest, so that cancelling many at once stays harmless: see grpc-js-gaps.ts. */
const maxStreamsPerConnection = 256;
/** How long aborted calls have to send their answer before the connections are cut. */
const forceGraceMs = 250;
const slowConsumerMs = 30_000;

/** A service, and when it answers. */
export interface ServedService {
  readonly service: RpcService;
  /** False: goes on answering while the provider shuts down. */
  readonly refuseWhileDraining: boolean;
}

/** What a server is made of. */
export interface GrpcServerOptions {
  readonly runtime: ProviderRuntime;
  readonly services: readonly ServedService[];
  /** Ends calls when the server is forced down. */
  readonly serverSignal: AbortSignal;
  readonly spans: CallSpans | undefined;
  readonly metrics: Pick<ProviderMetrics, "callStarted" | "callEnded">;
}

/** Makes the server of a provider; it listens nowhere yet. */
export const createGrpcServer = (options: GrpcServerOptions): Server => {
  const { runtime } = options;
  const server = new Server({
    "grpc.max_receive_message_length": Number(runtime.limits.maxReceiveBytes),
    // Answers are bounded by the contract's own limits.
    "grpc.max_send_message_length": -1,
    "grpc.max_concurrent_streams": maxStreamsPerConnection,
    // Leaked memory in several versions (grpc-node 1941, 2393), and no client reads it.
    "grpc.enable_channelz": 0,
  });
  tolerateHugeDeadlines(server);
  tolerateMassCancellation(server);
  for (const served of options.services) {
    const { definition, implementation } = toGrpcService(served.service, depsOf(served, options));
    server.addService(definition, implementation);
  }
  return server;
};

const depsOf = (
  { service, refuseWhileDraining }: ServedService,
  { runtime, serverSignal, spans, metrics }: GrpcServerOptions,
): RpcDeps => {
  // Probes of health and questions about descriptors are no calls of the contract.
  const isContract = service.fullName === CloudProviderDefinition.fullName;
  const { callStarted, callEnded } = isContract ? metrics : noMetrics;
  return {
    hooks: {
      started: (call) => callStarted(call.method),
      admit: () => {
        if (refuseWhileDraining && runtime.draining.aborted) throw draining();
      },
      ended: (call, error, elapsedMs) => {
        const outcome = { code: codeNames[error?.code ?? 0] ?? String(error?.code), reason: error?.reason ?? "" };
        callEnded(call.method, outcome, elapsedMs / 1_000);
        runtime.log.debug("Answered", { ...callFields(call), ...outcome, elapsedMs });
      },
    },
    log: runtime.log,
    clock: runtime.clock,
    serverSignal,
    slowConsumerMs,
    // Health checks would be a trace of their own, every few seconds.
    spans: isContract ? spans : undefined,
  };
};

/** Lets calls under way end, and ends those that take longer. */
export const shutDown = async (server: Server, force: AbortController, drainMs: number): Promise<void> => {
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
