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
  /** Shows in audit logs: `<binary>/<version> (<os>/<arch>) kubernetes/<commit>/<identity>`. */
  readonly userAgent: string;
  /** Calls other than watches, made within a span, are spans below it. */
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
  /** Verb and object, for messages. */
  readonly what: string;
  readonly request: Omit<HttpRequest, "signal" | "headers">;
  readonly contentType: string | undefined;
  /** The kind whose codec decides whether protobuf is asked for. */
  readonly resource: Resource<unknown>;
  readonly span: Span;
}

/** The thin client: every call goes over one shared pool of connections. */
export class HttpKubeClient implements KubeClient, ListWatcher {
  readonly #deps: HttpClientDependencies;
  readonly #strings = new StringCache();
  /** Kinds for which the server refused protobuf (406 or 415): asked for as JSON from then on. */
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
    return this.#answer(call, options, (response, bytes) =>
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
    await this.#answer(call, options, () => undefined);
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
    return this.#answer(call, options, (response, bytes) =>
      decodeObject(resource, bytes, response.header("content-type"), this.#strings),
    );
  }

  #answer<T>(call: Call, options: CallOptions, read: (response: HttpResponse, bytes: Uint8Array) => T): Promise<T> {
    const { tracing, transport } = this.#deps;
    const { request, resource } = call;
    const start = (): SpanStart => callSpan(request, resource.plural, transport.origin);
    return tracing.child(start, (span) => this.#completed({ ...call, span }, options, read));
  }

  /** Sends, retries, reads the whole answer and decodes it, all inside one deadline. */
  async #completed<T>(
    call: Call,
    options: CallOptions,
    read: (response: HttpResponse, bytes: Uint8Array) => T,
  ): Promise<T> {
    const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    const endMs = this.#deps.clock.monotonicMs() + timeoutMs;
    using deadline = deadlineSignal(signal, timeoutMs, call.what, this.#deps.clock);
    try {
      const response = await this.#open(call, deadline.signal, endMs);
      call.span.set({ "http.response.status_code": response.status });
      return read(response, await response.bytes());
    } catch (cause) {
      const error = errorFromFailure(
        call.what,
        deadline.signal.aborted ? deadline.signal.reason : cause,
        signal.aborted,
      );
      noteFailure(call.span, error);
      throw error;
    }
  }

  /** Sends until an answer of 2xx has begun. */
  async #open(call: Call, signal: AbortSignal, endMs: number): Promise<HttpResponse> {
    for (let tries = 1; ; tries++) {
      const outcome = await this.#try(call, signal, tries);
      if (outcome.kind === "answer") return outcome.response;
      const { error, afterMs } = outcome;
      if (afterMs === undefined || tries > MAX_RETRIES || this.#deps.clock.monotonicMs() + afterMs >= endMs)
        throw error;
      const code = "httpStatus" in error && error.httpStatus > 0 ? String(error.httpStatus) : "<error>";
      this.#deps.metrics?.observeRetry(call.request.method, this.#deps.transport.host, code);
      if (afterMs > 0) await sleep(afterMs, signal, this.#deps.clock);
    }
  }

  async #try(call: Call, signal: AbortSignal, tries: number): Promise<Outcome> {
    const asked = this.#headers(call);
    let response: HttpResponse;
    try {
      response = await this.#deps.transport.send({ ...call.request, headers: asked, signal });
    } catch (error) {
      // A kept connection may have been closed just as the request left. Only a read can be repeated without knowing.
      const repeat = call.request.method === "GET" && tries === 1 && !signal.aborted;
      return { kind: "failed", error: errorFromFailure(call.what, error, false), afterMs: repeat ? 0 : undefined };
    }
    if (response.status >= 200 && response.status < 300) return { kind: "answer", response };
    const error = await this.#refused(call, response);
    return { kind: "failed", error, afterMs: await this.#retryDelay(call, error, asked, tries, signal) };
  }

  async #refused(call: Call, response: HttpResponse): Promise<ApiError> {
    const status = readStatus(await response.bytes(), response.header("content-type"), this.#strings);
    return errorFromStatus(call.what, response.status, status, response.header("retry-after"));
  }

  async #retryDelay(
    call: Call,
    error: ApiError,
    asked: Headers,
    tries: number,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    if (error.code === "unauthorized" && tries === 1) {
      await this.#deps.transport.renewCredentials(signal);
      return 0;
    }
    if (error.code === "unsupportedMedia" && isProtobuf(asked.accept)) {
      this.#jsonOnly.add(call.resource.plural);
      return 0;
    }
    return error.httpStatus === 429 || error.httpStatus >= 500 ? error.retryAfterMs : undefined;
  }

  #headers({ resource, contentType, span: { traceparent } }: Call): Headers {
    const protobuf = resource.protobuf !== undefined && !this.#jsonOnly.has(resource.plural);
    return {
      accept: protobuf ? `${PROTOBUF_TYPE}, ${JSON_TYPE}` : JSON_TYPE,
      "user-agent": this.#deps.userAgent,
      ...(contentType === undefined ? {} : { "content-type": contentType }),
      ...(traceparent === undefined ? {} : { traceparent }),
    };
  }
}

function noteFailure(span: Span, error: ApiError | AccessError): void {
  const status = "httpStatus" in error && error.httpStatus > 0 ? error.httpStatus : undefined;
  span.set({ "http.response.status_code": status });
  span.fail(error, status === undefined ? error.code : String(status));
}

/** The query is left out of messages: long, and the same each time. */
function describe(verb: string, path: string): string {
  return `${verb} ${path.split("?", 1)[0]}`;
}

type Headers = Readonly<Record<string, string>> & { readonly accept: string };

type Outcome =
  | { readonly kind: "answer"; readonly response: HttpResponse }
  /** `afterMs` undefined: not to be repeated here. */
  | { readonly kind: "failed"; readonly error: ApiError | AccessError; readonly afterMs: number | undefined };

/** A call to the API server, tries again included. Names: OpenTelemetry's semantic conventions for HTTP clients 1.38. */
function callSpan({ method, path }: Pick<HttpRequest, "method" | "path">, plural: string, origin: string): SpanStart {
  const { hostname, port } = new URL(origin);
  return {
    name: `${method} ${plural}`,
    kind: "client",
    attributes: {
      "http.request.method": method,
      "server.address": hostname,
      "server.port": port === "" ? undefined : Number(port),
      // Without the query: it says nothing of the object, and is long.
      "url.full": `${origin}${path.split("?", 1)[0]}`,
    },
  };
}
