import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { rm } from "node:fs/promises";

/** One response as bytes, which need not keep to gRPC. */
export interface RawReply {
  /** Complete gRPC frames. @default none */
  readonly frames?: readonly Uint8Array[];
  /** Of compressed frames. @default identity */
  readonly encoding?: string;
  /** @default 0, OK */
  readonly status?: number;
  readonly message?: string;
  readonly details?: Uint8Array;
}

export interface RawCall {
  /** `BatchGetInstances`. */
  readonly method: string;
  /** Header `x-controller-version` of the caller. */
  readonly caller: string;
  /** Encoded request. */
  readonly request: Uint8Array;
}

/** Bytes of the frame header: whether it is compressed, and its length. */
const HEADER_BYTES = 5;

export function frame(message: Uint8Array, isCompressed = false): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(isCompressed ? 1 : 0);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}

/** A gRPC server on a Unix socket that sends any bytes. */
export async function serveRaw(path: string, reply: (call: RawCall) => RawReply): Promise<Http2Server> {
  await rm(path, { force: true });
  const server = createServer();
  server.on("stream", (stream, headers) => {
    const parts: Buffer[] = [];
    // The caller resets streams that it has rejected.
    stream.on("error", () => undefined);
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.on("end", () => {
      const method = String(headers[":path"]).split("/").at(-1) ?? "";
      const request = Buffer.concat(parts).subarray(HEADER_BYTES);
      send(stream, reply({ method, caller: String(headers["x-controller-version"]), request }));
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return server;
}

function send(stream: ServerHttp2Stream, { frames = [], encoding, status = 0, message = "", details }: RawReply): void {
  if (stream.destroyed) return;
  stream.respond(
    {
      ":status": 200,
      "content-type": "application/grpc",
      ...(encoding === undefined ? {} : { "grpc-encoding": encoding }),
    },
    { waitForTrailers: true },
  );
  stream.on("wantTrailers", () => {
    if (stream.destroyed) return;
    stream.sendTrailers({
      "grpc-status": String(status),
      "grpc-message": encodeURIComponent(message),
      ...(details === undefined ? {} : { "grpc-status-details-bin": Buffer.from(details).toString("base64") }),
    });
  });
  for (const part of frames) stream.write(part);
  stream.end();
}
