import type { ObjectName } from "../api/meta.ts";
import { NO_SPAN, type Span, type SpanStart, type Tracing } from "../telemetry/tracing.ts";
import { deadlineSignal, sleep } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import type { JsonRecord } from "../util/json.ts";
import { StringCache } from "../util/string-cache.ts";
import { watchStream } from "./cache/watch.ts";
import type {
  CallOptions,
  DeleteOptions,
  JsonObject,
  KubeClient,
  ListOptions,
  ListWatcher,
  Patch,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./client.ts";
import type { AccessError } from "./connection/access.ts";
import type { RestMetrics } from "./connection/metrics.ts";
import type { HttpRequest, HttpResponse, Transport } from "./connection/transport.ts";
import { type ApiError, errorFromFailure, errorFromStatus } from "./errors.ts";
import {
  type DecodedList,
  JSON_TYPE,
  PROTOBUF_TYPE,
  type Resource,
  apiVersionOf,
  collectionPath,
  decodeList,
  decodeObject,
  isProtobuf,
  objectPath,
  queryString,
  readStatus,
} from "./resources/codec.ts";

export interface HttpClientDependencies {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly metrics: RestMetrics | undefined;
  /** Appears in audit logs: `<binary>/<version> (<os>/<arch>) kubernetes/<commit>/<identity>`. */
  readonly userAgent: string;
  /** Calls within a span, except watches, are its child spans. */
  readonly tracing: Tracing;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_PAGE = 100;

/** As client-go (rest/with_retry.go v0.36.3). */
const MAX_RETRIES = 10;

const PATCH_TYPES = {
  strategic: "application/strategic-merge-patch+json",
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
} as const;

interface Call {
  readonly what: string;
  readonly request: Omit<HttpRequest, "signal" | "headers">;
  readonly contentType: string | undefined;
  /** Its codec decides whether protobuf is requested. */
  readonly resource: Resource<unknown>;
  readonly span: Span;
}

/** All calls share one pool of connections. */
export class HttpKubeClient implements KubeClient, ListWatcher {
  readonly #deps: HttpClientDependencies;
  readonly #strings = new StringCache();
  /** Kinds for which the server rejected protobuf (406 or 415): requested as JSON from then on. */
  readonly #jsonOnly = new Set<string>();

  constructor(dependencies: HttpClientDependencies) {
    this.#deps = dependencies;
  }

  async get<T>(resource: Resource<T>, name: ObjectName, options: CallOptions): Promise<T> {
    const path = objectPath(resource, name);
    return this.#object(resource, this.#call("GET", resource, path), options);
  }

  async list<T>(resource: Resource<T>, options: ListOptions): Promise<DecodedList<T>> {
    const { labelSelector, fieldSelector, limit = DEFAULT_PAGE } = options;
    const query = queryString({ labelSelector, fieldSelector, limit, continue: options.continue });
    const call = this.#call("GET", resource, `${collectionPath(resource, options.namespace)}${query}`);
    return this.#send(call, options, (response, bytes) =>
      decodeList(resource, bytes, response.header("content-type"), this.#strings),
    );
  }

  async create<T>(
    resource: Resource<T>,
    namespace: string | undefined,
    body: JsonObject,
    options: WriteOptions,
  ): Promise<T> {
    const path = collectionPath(resource, namespace);
    return this.#object(resource, this.#write("POST", resource, path, body), options);
  }

  async update<T>(resource: Resource<T>, name: ObjectName, body: JsonRecord, options: WriteOptions): Promise<T> {
    const path = objectPath(resource, name, options.subresource);
    return this.#object(resource, this.#write("PUT", resource, path, body), options);
  }

  async patch<T>(resource: Resource<T>, name: ObjectName, patch: Patch, options: WriteOptions): Promise<T> {
    const path = objectPath(resource, name, options.subresource);
    const call = this.#call("PATCH", resource, path, JSON.stringify(patch.body), PATCH_TYPES[patch.kind]);
    return this.#object(resource, call, options);
  }

  async delete(resource: Resource<unknown>, name: ObjectName, options: DeleteOptions): Promise<void> {
    const { preconditions } = options;
    const body = preconditions && JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", preconditions });
    const call = this.#call("DELETE", resource, objectPath(resource, name), body, body && JSON_TYPE);
    await this.#send(call, options, () => undefined);
  }

  watch<T>(resource: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    const { clock } = this.#deps;
    return watchStream({
      resource,
      options,
      clock,
      strings: this.#strings,
      open: (path, signal) => {
        const { request, ...rest } = this.#call("GET", resource, path);
        const call = { ...rest, request: { ...request, streams: true }, what: describe("WATCH", path) };
        return this.#open(call, signal, clock.monotonicMs() + options.startTimeoutMs);
      },
    });
  }

  #call(
    method: HttpRequest["method"],
    resource: Resource<unknown>,
    path: string,
    body?: string,
    contentType?: string,
  ): Call {
    return { what: describe(method, path), request: { method, path, body }, contentType, resource, span: NO_SPAN };
  }

  #write(method: "POST" | "PUT", resource: Resource<unknown>, path: string, body: JsonRecord): Call {
    const whole = { apiVersion: apiVersionOf(resource), kind: resource.kind, ...body };
    return this.#call(method, resource, path, JSON.stringify(whole), JSON_TYPE);
  }

  #object<T>(resource: Resource<T>, call: Call, options: CallOptions): Promise<T> {
    return this.#send(call, options, (response, bytes) =>
      decodeObject(resource, bytes, response.header("content-type"), this.#strings),
    );
  }

  #send<T>(call: Call, options: CallOptions, read: Decoder<T>): Promise<T> {
    const { tracing, transport } = this.#deps;
    const { request, resource } = call;
    const start = (): SpanStart => callSpan(request, resource.plural, transport.origin);
    return tracing.child(start, (span) => this.#completed({ ...call, span }, options, read));
  }

  /** Sends, retries and decodes within one deadline. */
  async #completed<T>(call: Call, options: CallOptions, read: Decoder<T>): Promise<T> {
    const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    const endMs = this.#deps.clock.monotonicMs() + timeoutMs;
    using deadline = deadlineSignal(signal, timeoutMs, call.what, this.#deps.clock);
    try {
      const response = await this.#open(call, deadline.signal, endMs);
      call.span.set({ "http.response.status_code": response.status });
      return read(response, await response.bytes());
    } catch (cause) {
      const reason: unknown = deadline.signal.aborted ? deadline.signal.reason : cause;
      const error = errorFromFailure(call.what, reason, signal.aborted);
      recordFailure(call.span, error);
      throw error;
    }
  }

  /** Retries until a 2xx response has started. */
  async #open(call: Call, signal: AbortSignal, endMs: number): Promise<HttpResponse> {
    for (let tries = 1; ; tries++) {
      const outcome = await this.#try(call, signal, tries);
      if (outcome.kind === "success") return outcome.response;
      const { error, afterMs } = outcome;
      if (afterMs === undefined || tries > MAX_RETRIES || this.#deps.clock.monotonicMs() + afterMs >= endMs) {
        if (error.code === "unauthorized" || error.code === "forbidden")
          this.#deps.metrics?.observeDenied(call.request.method, error.code);
        throw error;
      }
      const code = "httpStatus" in error && error.httpStatus > 0 ? String(error.httpStatus) : "<error>";
      this.#deps.metrics?.observeRetry(call.request.method, this.#deps.transport.host, code);
      if (afterMs > 0) await sleep(afterMs, signal, this.#deps.clock);
    }
  }

  async #try(call: Call, signal: AbortSignal, tries: number): Promise<Outcome> {
    const headers = this.#headers(call);
    let response: HttpResponse;
    try {
      response = await this.#deps.transport.send({ ...call.request, headers, signal });
    } catch (error) {
      // A kept connection may have been closed just as the request was sent. Only a read can be repeated safely.
      const repeat = call.request.method === "GET" && tries === 1 && !signal.aborted;
      return { kind: "failed", error: errorFromFailure(call.what, error, false), afterMs: repeat ? 0 : undefined };
    }
    if (response.status >= 200 && response.status < 300) return { kind: "success", response };
    const status = readStatus(await response.bytes(), response.header("content-type"), this.#strings);
    const error = errorFromStatus(call.what, response.status, status, response.header("retry-after"));
    if (error.code === "unauthorized" && tries === 1) {
      await this.#deps.transport.renewCredentials(signal);
      return { kind: "failed", error, afterMs: 0 };
    }
    if (error.code === "unsupportedMedia" && isProtobuf(headers.accept)) {
      this.#jsonOnly.add(call.resource.plural);
      return { kind: "failed", error, afterMs: 0 };
    }
    const isRetryable = error.httpStatus === 429 || error.httpStatus >= 500;
    return { kind: "failed", error, afterMs: isRetryable ? error.retryAfterMs : undefined };
  }

  #headers({ resource, contentType, span: { traceparent } }: Call) {
    const protobuf = resource.protobuf !== undefined && !this.#jsonOnly.has(resource.plural);
    return {
      accept: protobuf ? `${PROTOBUF_TYPE}, ${JSON_TYPE}` : JSON_TYPE,
      "user-agent": this.#deps.userAgent,
      ...(contentType === undefined ? {} : { "content-type": contentType }),
      ...(traceparent === undefined ? {} : { traceparent }),
    };
  }
}

function recordFailure(span: Span, error: ApiError | AccessError): void {
  const status = "httpStatus" in error && error.httpStatus > 0 ? error.httpStatus : undefined;
  span.set({ "http.response.status_code": status });
  span.fail(error, status === undefined ? error.code : String(status));
}

/** Without the query, which is long and always the same. */
function describe(verb: string, path: string): string {
  return `${verb} ${path.split("?", 1)[0]}`;
}

type Decoder<T> = (response: HttpResponse, bytes: Uint8Array) => T;

type Outcome =
  | { readonly kind: "success"; readonly response: HttpResponse }
  /** `afterMs` undefined: no retry. */
  | { readonly kind: "failed"; readonly error: ApiError | AccessError; readonly afterMs: number | undefined };

/** A call to the API server with its retries. Names: OpenTelemetry's semantic conventions for HTTP clients 1.38. */
function callSpan({ method, path }: Pick<HttpRequest, "method" | "path">, plural: string, origin: string): SpanStart {
  const { hostname, port } = new URL(origin);
  return {
    name: `${method} ${plural}`,
    kind: "client",
    attributes: {
      "http.request.method": method,
      "server.address": hostname,
      "server.port": port === "" ? undefined : Number(port),
      // Without the query, which is long.
      "url.full": `${origin}${path.split("?", 1)[0]}`,
    },
  };
}
