import { chmod } from "node:fs/promises";
import {
  type Http2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  constants,
  createServer,
} from "node:http2";
import { HealthDefinition } from "@cloudwire/proto/grpc/health/v1/health";
import { methods, serviceName } from "../contract/methods.ts";
import { Connection } from "../endpoint/connection.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import { frame } from "../endpoint/frames.ts";
import { headerText, headerTexts } from "../endpoint/status.ts";
import { MessageStream } from "../endpoint/stream.ts";

/** One call as it arrives. */
export interface ProxiedRequest {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Of the connection that it came on. */
  readonly session: ServerHttp2Session;
  /** Calls that the connection has brought before it. */
  readonly earlier: number;
  /** Calls under way on the connection, itself included. */
  readonly open: number;
}

/** An answer as it leaves. */
export interface ProxiedReply {
  /** HTTP headers without `:status`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly trailers: Readonly<Record<string, string>>;
  /** Of a method that streams: what comes instead of body and trailers. */
  readonly messages?: ProxiedStream;
}

/** What stands between the caller and a correct provider. "cut" ends the connection; "hang" never answers. */
export type Intercept = (
  request: ProxiedRequest,
  next: (request: ProxiedRequest) => Promise<ProxiedReply>,
) => Promise<ProxiedReply | "cut" | "hang">;

/** What stands between the caller and a stream of a correct provider. */
export type StreamIntercept = (
  request: ProxiedRequest,
  next: (request: ProxiedRequest) => ProxiedStream,
) => ProxiedStream;

/** What a proxy does beside calls. */
export interface ProxyOptions {
  readonly intercept: Intercept;
  readonly stream?: StreamIntercept | undefined;
  /** Closes a connection on which the client sends keepalive pings, as a server does that takes them for an attack. */
  readonly endOnPing?: boolean | undefined;
  /** Default: 0660, as the contract wants it. */
  readonly socketMode?: number | undefined;
  /** Connections from this one on are cut. */
  readonly maxConnections?: number | undefined;
  /** The provider does not see that a call is canceled. */
  readonly deafToCancel?: boolean | undefined;
  /** A call that is cancelled ends its connection. */
  readonly cutOnCancel?: boolean | undefined;
}

/** Room for the largest request: one that waits for room takes a round trip each 64 KiB, and other runs share the machine. */
const windowBytes = 8 * 2 ** 20;

/** A provider that is correct but for what the options say, on a socket of its own. */
export const startMutantProxy = async (
  upstream: Endpoint,
  socketPath: string,
  options: ProxyOptions,
): Promise<{ readonly close: () => Promise<void> }> => {
  const connection = new Connection(upstream);
  const sessions = new Set<ServerHttp2Session>();
  const settings = { maxConcurrentStreams: 1_000, initialWindowSize: windowBytes };
  const server = createServer({ settings, maxSessionMemory: 256 });
  let connections = 0;
  server.on("session", (session) => {
    if (++connections > (options.maxConnections ?? Number.POSITIVE_INFINITY)) return session.destroy();
    sessions.add(session);
    session.setLocalWindowSize(windowBytes);
    const counts = { earlier: 0, open: 0 };
    session.on("error", () => undefined);
    session.once("close", () => sessions.delete(session));
    if (options.endOnPing === true) session.on("ping", () => session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM));
    session.on("stream", (stream, headers) => {
      const seen = { session, earlier: counts.earlier++, open: ++counts.open };
      stream.once("close", () => counts.open--);
      if (options.cutOnCancel === true) stream.once("aborted", () => session.destroy());
      void serve(stream, headers, seen, connection, options);
    });
  });
  await listen(server, socketPath);
  await chmod(socketPath, options.socketMode ?? 0o660);
  return {
    close: async () => {
      for (const session of sessions) session.destroy();
      connection.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
};

const listen = (server: Http2Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });

const serve = async (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  seen: Pick<ProxiedRequest, "session" | "earlier" | "open">,
  upstream: Connection,
  { intercept, deafToCancel = false, stream: interceptStream = (passed, next) => next(passed) }: ProxyOptions,
): Promise<void> => {
  stream.on("error", () => undefined);
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  await new Promise<void>((resolve) => {
    stream.once("end", resolve);
    stream.once("close", resolve);
  });
  const cancelled = new AbortController();
  if (!deafToCancel) stream.once("close", () => cancelled.abort());
  const request = { path: headers[":path"] ?? "", headers, body: Buffer.concat(chunks), ...seen };
  const { signal } = cancelled;
  const openStream = (passed: ProxiedRequest): ProxiedReply => ({
    headers: {},
    body: Buffer.alloc(0),
    trailers: {},
    messages: interceptStream(passed, ({ path, body, headers: sent }) =>
      forwardStream(upstream, { path, body, headers: passedHeaders(sent) }, signal),
    ),
  });
  const reply = await intercept(request, async (passed) =>
    isStreamPath(passed.path) ? openStream(passed) : forward(upstream, passed, signal),
  );
  if (reply === "cut") seen.session.destroy();
  else if (reply !== "hang" && reply.messages !== undefined) await pipeStream(stream, reply.messages);
  else if (reply !== "hang" && !stream.destroyed) send(stream, reply);
};

const forward = async (
  upstream: Connection,
  { path, headers, body }: ProxiedRequest,
  signal: AbortSignal,
): Promise<ProxiedReply> => {
  const answer = await upstream.call({ path, body, headers: passedHeaders(headers), patienceMs: 30_000, signal });
  return {
    headers: headerTexts(answer.headers),
    body: answer.body,
    trailers: answer.broken === undefined ? headerTexts(answer.trailers) : { "grpc-status": "14" },
  };
};

const passedHeaders = (headers: IncomingHttpHeaders): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(headers)
      .filter((name) => !name.startsWith(":") && !hopHeaders.has(name))
      .map((name) => [name, headerText(headers, name) ?? ""]),
  );

const hopHeaders = new Set(["te", "content-type", "user-agent"]);

const send = (stream: ServerHttp2Stream, { headers, body, trailers }: ProxiedReply): void => {
  const first: OutgoingHttpHeaders = { ":status": 200, "content-type": "application/grpc" };
  for (const [name, value] of Object.entries(headers)) if (!(name in trailers)) first[name] = value;
  stream.respond(first, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ ...trailers }));
  stream.end(body);
};

type Trailers = Readonly<Record<string, string>>;

/** The messages of an answer that is a stream, and how it ends. */
export type ProxiedStream = AsyncGenerator<Buffer, Trailers>;

const streamPaths: ReadonlySet<string> = new Set([
  `/${serviceName}/${methods.watchInstances.name}`,
  `/${serviceName}/${methods.watchLoadBalancers.name}`,
  `/${HealthDefinition.fullName}/${HealthDefinition.methods.watch.name}`,
]);

/** Whether the answer of a method is passed on message by message. */
export const isStreamPath = (path: string): boolean => streamPaths.has(path);

const lookMs = 60_000;

/** A stream of the provider behind the proxy, until the signal says that its reader has gone. */
async function* forwardStream(
  upstream: Connection,
  call: { readonly path: string; readonly body: Buffer; readonly headers: Readonly<Record<string, string>> },
  signal: AbortSignal,
): ProxiedStream {
  const messages = new MessageStream(upstream.open({ ...call, patienceMs: 0 }), signal);
  try {
    while (true) {
      const step = await messages.next(lookMs);
      if (step.kind === "message") yield step.bytes;
      if (step.kind !== "ended") continue;
      return step.wire.broken === undefined ? headerTexts(step.wire.trailers) : { "grpc-status": "14" };
    }
  } finally {
    messages.cancel();
  }
}

/** Writes a stream no faster than its reader reads. */
const pipeStream = async (stream: ServerHttp2Stream, messages: ProxiedStream): Promise<void> => {
  let trailers: Trailers = {};
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ ...trailers }));
  const gone = new Promise<void>((resolve) => {
    stream.once("close", resolve);
  });
  while (!stream.destroyed) {
    const next = await messages.next();
    if (next.done === true) {
      trailers = next.value;
      break;
    }
    if (!stream.destroyed && !stream.write(frame(next.value))) await Promise.race([drained(stream), gone]);
  }
  if (!stream.destroyed) stream.end();
  // One that waits for its source ends with the signal of the call.
  void messages.return({});
};

const drained = (stream: ServerHttp2Stream): Promise<void> =>
  new Promise((resolve) => {
    stream.once("drain", resolve);
  });
