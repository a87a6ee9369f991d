import type { Agent, ClientRequestArgs, IncomingMessage } from "node:http";
import { urlToHttpOptions } from "node:url";
import { raceAbort } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { deepEqual } from "../util/equal.ts";
import type { TokenBucket } from "../util/token-bucket.ts";
import type { ApiAccess, Credentials, TlsOptions } from "./access.ts";
import { createConnections, retireConnections } from "./connections.ts";
import { type EndExchange, exchange, wholeBody } from "./exchange.ts";
import type { RestMetrics } from "./rest-metrics.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** From /api or /apis on, with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Ends the request and the reading of its answer. */
  readonly signal: AbortSignal;
  /** The answer is wanted as it comes, and not first when it is complete. */
  readonly streams?: boolean;
}

export interface HttpResponse {
  readonly status: number;
  /** First value of a header, name in lower case. */
  header(name: string): string | undefined;
  /** The whole body. */
  bytes(): Promise<Uint8Array>;
  /** The body as it comes. Not reading to the end closes the connection. */
  chunks(): AsyncIterable<Uint8Array>;
}

export interface TransportDependencies {
  readonly access: ApiAccess;
  readonly clock: Clock;
  readonly metrics: RestMetrics | undefined;
  /** Limits requests a second of everything on this transport. @default none: the server's own fairness (429) decides */
  readonly limiter: TokenBucket | undefined;
}

/**
 * Requests to one API server over one pool of connections. HTTP/1.1 on purpose: with HTTP/2 all calls share one TCP connection,
 * and a half-open one stalls watches, patches and the lease together.
 */
export class Transport {
  readonly #deps: TransportDependencies;
  readonly #url: URL;
  readonly #server: Pick<ClientRequestArgs, "protocol" | "hostname" | "port">;
  readonly #prefix: string;
  /** scheme://host:port. */
  readonly origin: string;
  /** host:port, for metrics and messages. */
  readonly host: string;
  #pool: { readonly tls: TlsOptions; readonly agent: Agent } | undefined;
  readonly #running = new Set<EndExchange>();

  constructor(dependencies: TransportDependencies) {
    this.#deps = dependencies;
    const url = new URL(dependencies.access.server);
    this.origin = url.origin;
    this.host = url.host;
    const { protocol, hostname, port } = urlToHttpOptions(url);
    this.#url = url;
    this.#server = { protocol, hostname, port };
    this.#prefix = url.pathname.replace(/\/+$/, "");
  }

  async send(request: HttpRequest): Promise<HttpResponse> {
    const { limiter } = this.#deps;
    if (limiter !== undefined) await this.#wait(limiter, request);
    // A plugin that hangs must not hold a call beyond its deadline.
    const credentials = await raceAbort(this.#deps.access.credentials(false), request.signal);
    const startMs = this.#deps.clock.monotonicMs();
    let observed = false;
    const observe = (code: string): void => {
      observed = true;
      const seconds = (this.#deps.clock.monotonicMs() - startMs) / 1000;
      this.#deps.metrics?.observeRequest(request.method, this.host, code, seconds, request.body?.length ?? 0);
    };
    try {
      return await this.#dispatch(request, credentials, (status) => observe(String(status)));
    } catch (error) {
      if (!observed) observe("<error>");
      throw error;
    }
  }

  /** To be called after a 401: the next request presents credentials read anew. */
  async renewCredentials(signal: AbortSignal): Promise<void> {
    await raceAbort(this.#deps.access.credentials(true), signal);
  }

  /** Ends all connections, answers being read included. */
  close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    for (const end of this.#running) end(new Error(`the connections to ${this.host} were closed`));
    if (pool !== undefined) retireConnections(pool.agent);
    return Promise.resolve();
  }

  async #wait(limiter: TokenBucket, { method, signal }: HttpRequest): Promise<void> {
    const waitedMs = await limiter.take(signal);
    this.#deps.metrics?.observeLimiter(method, this.host, waitedMs / 1000);
  }

  /** @param onStarted told when the head of the answer is here */
  async #dispatch(
    request: HttpRequest,
    { headers, tls }: Credentials,
    onStarted: (status: number) => void,
  ): Promise<HttpResponse> {
    const { method, path, body, signal, streams = false } = request;
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    return exchange(
      {
        request: {
          ...this.#server,
          agent: this.#agent(tls),
          path: `${this.#prefix}${path}`,
          method,
          headers: { ...request.headers, ...headers, ...length },
        },
        body,
        signal,
        running: this.#running,
      },
      async (answer) => {
        onStarted(answer.statusCode ?? 0);
        if (streams) return streamed(answer);
        const bytes = await wholeBody(answer);
        this.#deps.metrics?.observeResponseSize(method, this.host, bytes.length);
        return complete(answer, bytes);
      },
    );
  }

  #agent(tls: TlsOptions): Agent {
    const old = this.#pool;
    if (old !== undefined && deepEqual(old.tls, tls)) {
      // Files that were read again and are the same: compared once and not with each request.
      this.#pool = { tls, agent: old.agent };
      return old.agent;
    }
    const { access, clock } = this.#deps;
    const agent = createConnections({ url: this.#url, tls, proxyUrl: access.proxyUrl, clock });
    this.#pool = { tls, agent };
    // Rotated certificates: what runs on the old connections may finish, watches end with their server-side timeout.
    if (old !== undefined) retireConnections(old.agent);
    return agent;
  }
}

function complete(answer: IncomingMessage, bytes: Uint8Array): HttpResponse {
  return {
    ...headOf(answer),
    bytes: () => Promise.resolve(bytes),
    chunks: async function* chunks() {
      yield bytes;
    },
  };
}

function streamed(answer: IncomingMessage): HttpResponse {
  return { ...headOf(answer), bytes: () => wholeBody(answer), chunks: () => answer };
}

function headOf({ statusCode = 0, headers }: IncomingMessage): Pick<HttpResponse, "status" | "header"> {
  return {
    status: statusCode,
    header: (name) => {
      const value = headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
  };
}
