import { Agent } from "node:http";
import { Agent as TlsAgent } from "node:https";
import { Socket } from "node:net";
import { createSecureContext } from "node:tls";
import type { Clock } from "../util/clock.ts";
import { withoutUserinfo } from "../util/userinfo.ts";
import { AccessError, type TlsOptions } from "./access.ts";

export interface ConnectionsOptions {
  /** Of the server. */
  readonly url: URL;
  readonly tls: TlsOptions;
  readonly proxyUrl: string | undefined;
  readonly clock: Clock;
}

/** Below kube-apiserver's 90 s idle limit (server/secure_serving.go v0.36.3), so that no request meets a connection being closed. */
const IDLE_CONNECTION_MS = 60_000;

/**
 * Requests at once over one transport; more wait for a connection. With one for every request that finds none free it would be 110 for 64
 * writers, and over TLS each costs 200 KiB and 2.5 ms of CPU.
 */
const MAX_CONNECTIONS = 32;

/** Finds dead peers under a quiet watch; client-go's value (net/http.go, apimachinery v0.36.3). */
const TCP_KEEP_ALIVE_MS = 30_000;

const CONNECT_TIMEOUT_MS = 10_000;

/** The server, or the way to it, did not take the connection in time. */
class ConnectTimeoutError extends Error {
  readonly code = "CONNECT_TIMEOUT";

  constructor(host: string) {
    super(`no connection to ${host} within ${CONNECT_TIMEOUT_MS} ms`);
    this.name = "ConnectTimeoutError";
  }
}

/** Connections to one server, presenting one set of certificates. */
export function createConnections({ url, tls, proxyUrl, clock }: ConnectionsOptions): Agent {
  const secure = url.protocol === "https:";
  const proxy = proxyAddress(proxyUrl);
  const pool = {
    keepAlive: true,
    keepAliveMsecs: TCP_KEEP_ALIVE_MS,
    maxSockets: MAX_CONNECTIONS,
    timeout: IDLE_CONNECTION_MS,
    ...(proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }),
  };
  const { servername, rejectUnauthorized, ...certificates } = tls;
  const agent = secure
    ? new TlsAgent({
        ...pool,
        // One for all of them: made anew for each connection it is 30 KiB and 0.6 ms.
        secureContext: createSecureContext(certificates),
        ...(servername === undefined ? {} : { servername }),
        ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
      })
    : new Agent(pool);
  const tunnels = secure && proxy !== undefined;
  const connected = secure ? "secureConnect" : "connect";
  limitConnecting(agent, tunnels ? undefined : connected, url.host, clock);
  return agent;
}

/** What runs on them may finish, and each is closed after that. */
export function retireConnections(agent: Agent): void {
  agent.keepSocketAlive = () => false;
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
  }
}

function proxyAddress(proxyUrl: string | undefined): string | undefined {
  if (proxyUrl === undefined || proxyUrl === "") return undefined;
  if (/^https?:/.test(proxyUrl) && URL.canParse(proxyUrl)) return new URL(proxyUrl).href;
  throw new AccessError(
    `proxy-url "${withoutUserinfo(proxyUrl)}" of the kubeconfig is not supported: only http:// and https:// proxies are`,
  );
}

/**
 * The agent's own time limit is one of silence, on connections that are there.
 *
 * @param connected event of a new socket when it can be used; undefined: it is a tunnel's, of which the agent's callback tells
 */
function limitConnecting(agent: Agent, connected: string | undefined, host: string, clock: Clock): void {
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = create(options, (error, made) => {
      timer.cancel();
      // Node 24.21 sees to it for connections without a tunnel, and for others when their first request is done: never, of a watch.
      if (connected === undefined && socket instanceof Socket) socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
      callback?.(error, made);
    });
    const timer = clock.schedule(CONNECT_TIMEOUT_MS, () => {
      const error = new ConnectTimeoutError(host);
      // Between its two handshakes nobody listens for a tunnel's errors.
      if (connected === undefined && socket) callback?.(error, socket.destroy());
      else socket?.destroy(error);
    });
    if (connected !== undefined) socket?.once(connected, () => timer.cancel());
    socket?.once("close", () => timer.cancel());
    return socket;
  };
}
