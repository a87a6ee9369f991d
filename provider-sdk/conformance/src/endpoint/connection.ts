import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  connect as connectHttp2,
  constants,
} from "node:http2";
import { errorText } from "../errors.ts";
import { type Endpoint, hostAndPort } from "./endpoint.ts";
import { openSocket, socketProblem } from "./socket.ts";

/** One call as it goes over the wire. */
export interface WireCall {
  /** `/package.Service/Method` */
  readonly path: string;
  /** The whole body, framed. */
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly authority?: string;
  /** Id of the calling check: part of the user agent, so that the provider's log has it. */
  readonly check?: string;
  /** Sent to the server as grpc-timeout. Default: not sent. */
  readonly deadlineMs?: number;
  /** When the kit stops waiting. */
  readonly patienceMs: number;
  readonly signal?: AbortSignal;
}

/** What a server did with a call. */
export interface WireResponse {
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Why there is no whole answer: nothing came in time, the connection broke, too much came. */
  readonly broken?: string;
  readonly elapsedMs: number;
}

/** Longest answer that the kit takes in; the contract allows 1 MiB. */
export const maxResponseBytes = 16 * 2 ** 20;

/** An HTTP/2 connection to a provider, as bare as Node has it: nothing is retried and nothing is hidden. */
export class Connection {
  readonly #endpoint: Endpoint;
  readonly #session: ClientHttp2Session;
  #lost: string | undefined;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    this.#session = connectHttp2(isTls(endpoint) ? "https://localhost" : "http://localhost", {
      createConnection: () => openSocket(endpoint),
      settings: { enablePush: false, initialWindowSize: 4 * 2 ** 20 },
      // Megabytes. Node ends a session that holds more than 10, and requests are made that are too large.
      maxSessionMemory: 256,
    });
    this.#session.on("error", (error) => (this.#lost ??= explain(endpoint, error)));
    this.#session.on("goaway", (code) => (this.#lost ??= `the server sent GOAWAY with code ${code}`));
    this.#session.on("close", () => (this.#lost ??= "the connection was closed"));
    // The kit's process may end while a provider keeps its end open.
    this.#session.unref();
  }

  /** Why the connection can no longer be used; undefined while it can. */
  get lost(): string | undefined {
    return this.#lost;
  }

  /** Calls, reads the answer to its end and never rejects. */
  call(call: WireCall): Promise<WireResponse> {
    return new Promise((resolve) => {
      const stream = this.open(call);
      if (typeof stream === "string") {
        resolve({ headers: {}, trailers: {}, body: Buffer.alloc(0), broken: stream, elapsedMs: 0 });
        return;
      }
      collect(stream, call, (error) => explain(this.#endpoint, error), resolve);
    });
  }

  /** Opens a stream whose answers the caller reads; a text says why it could not be opened. */
  open(call: WireCall): ClientHttp2Stream | string {
    if (this.#session.destroyed || this.#session.closed) return this.#lost ?? "the connection is closed";
    try {
      const stream = this.#session.request(headersOf(call, this.#endpoint));
      stream.end(call.body);
      return stream;
    } catch (error) {
      return errorText(error);
    }
  }

  /** How many bytes of each answer the server may send before the kit has read any; 0 stalls them all until it is more. */
  allow(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      this.#session.settings({ initialWindowSize: bytes }, () => resolve());
    });
  }

  /** Asks whether the server is there, as HTTP/2 does without a call; false: it does not say so in time. The connection must have served a call. */
  ping(waitMs: number): Promise<boolean> {
    if (this.#session.destroyed || this.#session.closed) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), waitMs);
      this.#session.ping((error) => {
        clearTimeout(timer);
        resolve(error === null);
      });
    });
  }

  close(): void {
    this.#session.destroy();
  }
}

const isTls = (endpoint: Endpoint): boolean => endpoint.kind === "tcp" && endpoint.tls !== undefined;

/** What went wrong, and at which step of opening the connection if it was one. */
const explain = (endpoint: Endpoint, error: unknown): string =>
  socketProblem(endpoint, error)?.text ?? errorText(error);

const authorityOf = (endpoint: Endpoint): string => {
  if (endpoint.kind === "unix") return "localhost";
  return endpoint.tls?.serverName ?? hostAndPort(endpoint);
};

const agent = "cloudwire-conformance";

const headersOf = (call: WireCall, endpoint: Endpoint): OutgoingHttpHeaders => ({
  ":method": "POST",
  ":path": call.path,
  ":authority": call.authority ?? authorityOf(endpoint),
  "content-type": "application/grpc",
  te: "trailers",
  "user-agent": call.check === undefined ? agent : `${agent} ${call.check}`,
  ...(call.deadlineMs !== undefined && { "grpc-timeout": grpcTimeout(call.deadlineMs) }),
  ...call.headers,
});

/** At most eight digits and a unit. */
const grpcTimeout = (ms: number): string => {
  if (ms < 1e8) return `${Math.max(1, Math.round(ms))}m`;
  return ms < 1e11 ? `${Math.round(ms / 1_000)}S` : `${Math.round(ms / 3_600_000)}H`;
};

const collect = (
  stream: ClientHttp2Stream,
  call: WireCall,
  explained: (error: Error) => string,
  resolve: (answer: WireResponse) => void,
): void => {
  const startedMs = performance.now();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let headers: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  let broken: string | undefined;
  const giveUp = (why: string): void => {
    broken ??= why;
    stream.close(constants.NGHTTP2_CANCEL);
    // A peer that reads nothing would keep a closed stream waiting.
    stream.destroy();
  };
  const timer = setTimeout(() => giveUp(`there was no answer within ${call.patienceMs} ms`), call.patienceMs);
  const aborted = (): void => giveUp("the kit cancelled the call");
  call.signal?.addEventListener("abort", aborted, { once: true });
  if (call.signal?.aborted === true) aborted();
  stream.on("response", (got) => {
    headers = got;
    // An answer without body carries its status in the headers.
    if ("grpc-status" in got) trailers = got;
  });
  stream.on("trailers", (got) => (trailers = got));
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxResponseBytes) giveUp(`the answer is longer than ${maxResponseBytes} bytes and did not end`);
    else chunks.push(chunk);
  });
  stream.on("error", (error) => (broken ??= explained(error)));
  stream.once("close", () => {
    clearTimeout(timer);
    call.signal?.removeEventListener("abort", aborted);
    if (!("grpc-status" in trailers)) broken ??= withoutStatus(headers, stream.rstCode);
    const answer = { headers, trailers, body: Buffer.concat(chunks), elapsedMs: performance.now() - startedMs };
    resolve(broken === undefined ? answer : { ...answer, broken });
  });
};

/** Why an answer has no status. */
export const withoutStatus = (headers: IncomingHttpHeaders, rstCode: number | undefined): string => {
  if (rstCode !== undefined && rstCode !== 0) return `the stream was reset with HTTP/2 code ${rstCode}`;
  const status = headers[":status"];
  return status === undefined
    ? "the stream ended without an answer"
    : `the answer has HTTP status ${String(status)} and no grpc-status`;
};

/** A connection that is reopened after it was lost. */
export class SteadyConnection {
  readonly #endpoint: Endpoint;
  #connection: Connection;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    this.#connection = new Connection(endpoint);
  }

  now(): Connection {
    if (this.#connection.lost !== undefined) {
      this.#connection.close();
      this.#connection = new Connection(this.#endpoint);
    }
    return this.#connection;
  }

  close(): void {
    this.#connection.close();
  }
}
