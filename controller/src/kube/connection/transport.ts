import type { IncomingHttpHeaders } from "node:http";
import { Agent, type Dispatcher, ProxyAgent } from "undici";
import { raceAbort } from "../../util/abort.ts";
import type { Clock } from "../../util/clock.ts";
import { deepEqual } from "../../util/equal.ts";
import type { TokenBucket } from "../../util/token-bucket.ts";
import { withoutUserinfo } from "../../util/text.ts";
import { AccessError, type ApiAccess, type Credentials, type TlsOptions } from "./access.ts";
import type { RestMetrics } from "./metrics.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Starts with /api or /apis; includes the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Ends the request and the reading of its response. */
  readonly signal: AbortSignal;
  /** The body is read while it arrives. */
  readonly streams?: boolean;
}

export interface HttpResponse {
  readonly status: number;
  /** First value of a header; `name` in lower case. */
  header(name: string): string | undefined;
  bytes(): Promise<Uint8Array>;
  /** The body while it arrives. Leaving it unread closes the connection. */
  chunks(): AsyncIterable<Uint8Array>;
}

export interface TransportDependencies {
  readonly access: ApiAccess;
  readonly clock: Clock;
  readonly metrics: RestMetrics | undefined;
  /** Limits the request rate of this transport. @default none: the server's own fairness (429) decides */
  readonly limiter: TokenBucket | undefined;
  /** Sends only reads. @default false */
  readonly isReadOnly?: boolean;
}

/** Below kube-apiserver's idle limit of 90 s (server/secure_serving.go v0.36.3), so that no request meets a closing connection. */
const IDLE_CONNECTION_MS = 60_000;

/**
 * Concurrent requests; more wait for a connection. Undici would open a connection for each (110 for 64 writers), and over TLS each costs
 * 200 KiB and 2.5 ms of CPU.
 */
const MAX_CONNECTIONS = 32;

/** Detects dead peers of an idle watch; client-go's value (net/http.go, apimachinery v0.36.3). */
const TCP_KEEP_ALIVE_MS = 30_000;

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Requests to one API server over one pool of connections. HTTP/1.1 on purpose: with HTTP/2 all calls share one TCP connection, and a
 * half-open one stalls watches, patches and the Lease together.
 */
export class Transport {
  readonly #deps: TransportDependencies;
  readonly #prefix: string;
  /** scheme://host:port */
  readonly origin: string;
  /** host:port, for metrics and messages. */
  readonly host: string;
  #pool: { readonly tls: TlsOptions; readonly dispatcher: Dispatcher } | undefined;

  constructor(dependencies: TransportDependencies) {
    this.#deps = dependencies;
    const url = new URL(dependencies.access.server);
    this.origin = url.origin;
    this.host = url.host;
    this.#prefix = url.pathname.replace(/\/+$/, "");
  }

  async send(request: HttpRequest): Promise<HttpResponse> {
    const { limiter, isReadOnly = false } = this.#deps;
    if (isReadOnly && request.method !== "GET") {
      throw new TypeError(`${request.method} ${request.path} was not sent: this process runs in observe mode (--mode)`);
    }
    if (limiter !== undefined) await this.#wait(limiter, request);
    // A plugin that hangs must not delay a call beyond its deadline.
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

  /** Renews the credentials after a 401. */
  async renewCredentials(signal: AbortSignal): Promise<void> {
    await raceAbort(this.#deps.access.credentials(true), signal);
  }

  /** Ends all connections, also those with a response in progress. */
  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.dispatcher.destroy();
  }

  async #wait(limiter: TokenBucket, { method, signal }: HttpRequest): Promise<void> {
    const waitedMs = await limiter.take(signal);
    this.#deps.metrics?.observeLimiter(method, this.host, waitedMs / 1000);
  }

  async #dispatch(
    request: HttpRequest,
    { headers, tls }: Credentials,
    onStarted: (status: number) => void,
  ): Promise<HttpResponse> {
    const { method, path, body = null, signal } = request;
    const dispatcher = this.#dispatcher(tls);
    const options = {
      origin: this.origin,
      path: `${this.#prefix}${path}`,
      method,
      headers: { ...request.headers, ...headers },
      body,
      // The caller's signal limits the time, including the wait for a connection.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    if (request.streams === true) {
      const { statusCode, headers: received, body: stream } = await dispatcher.request({ ...options, signal });
      onStarted(statusCode);
      return { status: statusCode, header: headerOf(received), bytes: () => stream.bytes(), chunks: () => stream };
    }
    const { status, headers: received, bytes } = await completeResponse(dispatcher, options, signal, onStarted);
    this.#deps.metrics?.observeResponseSize(method, this.host, bytes.length);
    const chunks = async function* chunks(): AsyncGenerator<Uint8Array> {
      yield bytes;
    };
    return { status, header: headerOf(received), bytes: () => Promise.resolve(bytes), chunks };
  }

  #dispatcher(tls: TlsOptions): Dispatcher {
    const old = this.#pool;
    if (old !== undefined && deepEqual(old.tls, tls)) {
      // Unchanged files that were read again: compared once, not with each request.
      this.#pool = { tls, dispatcher: old.dispatcher };
      return old.dispatcher;
    }
    const dispatcher = createDispatcher(tls, this.#deps.access.proxyUrl);
    this.#pool = { tls, dispatcher };
    // Rotated certificates: calls on the old connections may finish; watches end with their server-side timeout.
    old?.dispatcher.close().catch(() => undefined);
    return dispatcher;
  }
}

function createDispatcher(tls: TlsOptions, proxyUrl: string | undefined): Dispatcher {
  const pool = { keepAliveTimeout: IDLE_CONNECTION_MS, connections: MAX_CONNECTIONS, allowH2: false };
  const connect = { timeout: CONNECT_TIMEOUT_MS, keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS };
  if (proxyUrl === undefined || proxyUrl === "") return new Agent({ ...pool, connect: { ...connect, ...tls } });
  if (!/^https?:/.test(proxyUrl)) {
    throw new AccessError(
      `proxy-url "${withoutUserinfo(proxyUrl)}" of the kubeconfig is not supported: only http:// and https:// proxies are`,
    );
  }
  return new ProxyAgent({ ...pool, uri: proxyUrl, connect, requestTls: tls });
}

function headerOf(headers: IncomingHttpHeaders): HttpResponse["header"] {
  return (name) => {
    const value = headers[name];
    return Array.isArray(value) ? value[0] : value;
  };
}

interface CompleteResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Uint8Array;
}

/**
 * Sends a request and reads its complete response. undici's `request` creates a stream for each body, a large part of the cost of a
 * response of a few kilobytes.
 */
function completeResponse(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
  onStarted: (status: number) => void,
): Promise<CompleteResponse> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    let sending: Dispatcher.DispatchController | undefined;
    let head: Pick<CompleteResponse, "status" | "headers"> = { status: 0, headers: {} };
    const parts: Buffer[] = [];
    const fail = (error: unknown): void => {
      signal.removeEventListener("abort", onAbort);
      reject(asError(error));
    };
    const onAbort = (): void => {
      fail(signal.reason);
      sending?.abort(asError(signal.reason));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    dispatcher.dispatch(request, {
      onRequestStart: (controller) => {
        sending = controller;
        // Canceled while the request waited for a connection.
        if (signal.aborted) controller.abort(asError(signal.reason));
      },
      onResponseStart: (_controller, status, headers) => {
        // Informational responses come before the final one (RFC 9110, 15.2).
        if (status < 200) return;
        head = { status, headers };
        onStarted(status);
      },
      onResponseData: (_controller, chunk) => void parts.push(chunk),
      onResponseEnd: () => {
        signal.removeEventListener("abort", onAbort);
        const [first] = parts;
        resolve({ ...head, bytes: first !== undefined && parts.length === 1 ? first : Buffer.concat(parts) });
      },
      onResponseError: (_controller, error) => fail(error),
    });
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
