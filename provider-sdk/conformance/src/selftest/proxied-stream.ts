import type { ServerHttp2Stream } from "node:http2";
import { HealthDefinition } from "@cloudwire/proto/grpc/health/v1/health";
import { methods, serviceName } from "../contract/methods.ts";
import { headerTexts } from "../endpoint/status.ts";
import type { Connection } from "../endpoint/connection.ts";
import { frame } from "../endpoint/frames.ts";
import { MessageStream } from "../endpoint/stream.ts";

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
export async function* forwardStream(
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
export const pipeStream = async (stream: ServerHttp2Stream, messages: ProxiedStream): Promise<void> => {
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
