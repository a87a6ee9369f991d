import { dirname } from "node:path";
import process from "node:process";
import type { Server, ServerCredentials } from "@grpc/grpc-js";
import type { Endpoint } from "./endpoint.ts";
import { ProviderStartError } from "../start-error.ts";
import { withPathLock } from "./path-lock.ts";
import {
  clearSocketPath,
  identify,
  inUse,
  isLive,
  isOwn,
  keepingForeignSocket,
  removeOwnSocket,
  requireDirectory,
  secureSocket,
  withSocketUmask,
} from "./unix-socket.ts";

/** A server that listens. */
export interface Listener {
  /** Where callers connect: `unix:///run/cloud-provider/provider.sock`, `127.0.0.1:9443`. */
  readonly address: string;
  /** Closes the server and removes its own socket, but not one of another process. */
  readonly release: (closeServer: () => Promise<void>) => Promise<void>;
  /** False when callers can no longer connect: another process removed or replaced the socket. */
  readonly isReachable: () => Promise<boolean>;
}

/** Makes a server listen; throws {@link ProviderStartError} when the endpoint is unavailable. */
export const listen = (
  server: Server,
  endpoint: Endpoint,
  credentials: ServerCredentials,
  socketGroup: string | undefined,
): Promise<Listener> =>
  endpoint.kind === "unix"
    ? listenOnSocket(server, endpoint.path, credentials, socketGroup)
    : listenOnTcp(server, endpoint, credentials);

const listenOnSocket = async (
  server: Server,
  path: string,
  credentials: ServerCredentials,
  group: string | undefined,
): Promise<Listener> => {
  await requireDirectory(dirname(path));
  await withPathLock(path, async () => {
    await clearSocketPath(path);
    try {
      await withSocketUmask(() => bind(server, `unix://${path}`, credentials));
    } catch (error) {
      // A process that does not use the lock bound the path between the check and the bind.
      throw (await isLive(path)) ? inUse(path, error) : cannotBind(path, error);
    }
  });
  const own = await identify(path);
  await secureSocket(path, group);
  return {
    address: `unix://${path}`,
    release: async (closeServer) => {
      await keepingForeignSocket(path, own, closeServer);
      await removeOwnSocket(path, own);
    },
    isReachable: () => isOwn(path, own),
  };
};

const listenOnTcp = async (
  server: Server,
  { host, port }: Extract<Endpoint, { readonly kind: "tcp" }>,
  credentials: ServerCredentials,
): Promise<Listener> => {
  const authority = host.includes(":") ? `[${host}]` : host;
  try {
    const bound = await bind(server, `${authority}:${port}`, credentials);
    return { address: `${authority}:${bound}`, release: (closeServer) => closeServer(), isReachable: async () => true };
  } catch (error) {
    throw cannotListen(`tcp://${authority}:${port}`, error);
  }
};

const bind = (server: Server, address: string, credentials: ServerCredentials): Promise<number> =>
  new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (error) reject(error);
      else resolve(port);
    });
  });

const cannotBind = (path: string, error: unknown): ProviderStartError =>
  /\bE(?:ACCES|PERM|ROFS)\b/.test(String(error))
    ? new ProviderStartError(
        "ENDPOINT_UNAVAILABLE",
        [
          `user ${process.getuid?.() ?? ""} cannot create a socket in ${dirname(path)}; grant it write permission, in a pod with an emptyDir volume and fsGroup`,
        ],
        error,
      )
    : cannotListen(path, error);

const cannotListen = (where: string, error: unknown): ProviderStartError =>
  new ProviderStartError(
    "ENDPOINT_UNAVAILABLE",
    [`cannot listen on ${where}: ${error instanceof Error ? error.message : String(error)}`],
    error,
  );
