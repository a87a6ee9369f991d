import { randomUUID } from "node:crypto";
import { lstat } from "node:fs/promises";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { toCapabilities, toLimits } from "../convert/capabilities.ts";
import { createProviderIds } from "../convert/provider-ids.ts";
import type { ProviderDefinition } from "../definition/provider.ts";
import type { Logger } from "../log/logger.ts";
import { type RpcHooks, toGrpcService } from "../rpc/grpc-service.ts";
import { createCloudProviderService } from "../services/cloud-provider.ts";
import type { ProviderRuntime } from "../services/runtime.ts";
import { defaultIntervals, StatusMonitor } from "../services/status-monitor.ts";
import type { Endpoint } from "./endpoint.ts";
import { ProviderStartError } from "./start-error.ts";
import { clearSocketPath, removeOwnSocket, secureSocket, withSocketUmask } from "./unix-socket.ts";

/** How a provider is served; nothing is read from the environment. */
export interface StartOptions {
  readonly endpoint: Endpoint;
  readonly log: Logger;
  /** Group that gets the socket, name or number. Default: the process's. */
  readonly socketGroup?: string | undefined;
  /** Longest time calls in flight have to end. Default: 10 s. */
  readonly drainMs?: number | undefined;
}

/** A provider that is being served. */
export interface RunningProvider {
  /** Where it listens: `unix:///run/cloud-provider/provider.sock`. */
  readonly address: string;
  /** Random id of this process, as in the handshake. */
  readonly bootId: string;
  /** Ends it in order: watches end, new calls are refused, calls in flight get their time, the socket is removed. */
  readonly close: () => Promise<void>;
}

/** Serves a provider inside a process that somebody else looks after; tests do. Throws {@link ProviderStartError}. */
export const startProvider = async (
  definition: ProviderDefinition,
  options: StartOptions,
): Promise<RunningProvider> => {
  const { log } = options;
  const nowMs = Date.now;
  const bootId = randomUUID();
  const status = new StatusMonitor({ definition, bootId, log, nowMs, ...defaultIntervals });
  const runtime: ProviderRuntime = {
    definition,
    bootId,
    ids: createProviderIds(definition.idPrefixes ?? [definition.idPrefix]),
    capabilities: toCapabilities(definition),
    limits: toLimits(definition.limits),
    scopeId: () => status.scopeId,
    observe: (outcome) => status.observe(outcome),
    log,
    nowMs,
  };
  const force = new AbortController();
  const server = new Server({
    "grpc.max_receive_message_length": Number(runtime.limits.maxReceiveBytes),
    "grpc.max_send_message_length": -1,
    "grpc.enable_channelz": 0,
  });
  const hooks: RpcHooks = { admit: () => undefined, around: (_call, run) => run(), ended: () => undefined };
  const service = createCloudProviderService(runtime, status, {
    services: ["cloudprovider.v1.CloudProvider"],
    sdkVersion: "0.1.0",
    runtimeVersion: `node ${process.version}`,
  });
  const { definition: methods, implementation } = toGrpcService(service, {
    hooks,
    log,
    nowMs,
    serverSignal: force.signal,
    slowConsumerMs: 30_000,
  });
  server.addService(methods, implementation);
  if (options.endpoint.kind !== "unix") throw new ProviderStartError("CONFIG_INVALID", ["tcp is not served yet"]);
  const { path } = options.endpoint;
  await clearSocketPath(path);
  await withSocketUmask(() => bind(server, `unix://${path}`));
  await secureSocket(path, options.socketGroup);
  const { ino } = await lstat(path);
  await status.start();
  return {
    address: `unix://${path}`,
    bootId,
    close: async () => {
      await status.stop();
      await shutDown(server, options.drainMs ?? 10_000);
      await removeOwnSocket(path, ino);
    },
  };
};

const bind = (server: Server, address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
  });

const shutDown = (server: Server, drainMs: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => server.forceShutdown(), drainMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
