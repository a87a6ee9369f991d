import http2 from "node:http2";
import { connect as connectSocket } from "node:net";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { invokeOk } from "../support/invoke.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { budget } from "./budget.ts";
import { everythingProvider } from "./everything-provider.ts";

const { parameters, timeoutMs } = budget(process.env);

/** A stream that is not ended by then hangs. */
const hangMs = 10_000;

const serve = async () => {
  const { provider, client, socketPath } = await serveForTest(everythingProvider);
  const isWell = async () => {
    const request = { client: { name: "fuzz", version: "1", contractMajor: 1 } };
    const { getProviderInfo } = CloudProviderDefinition.methods;
    return (await invokeOk(client, getProviderInfo, request, { deadlineMs: hangMs })).bootId;
  };
  return { socketPath, isWell, bootId: provider.bootId };
};

/** Writes pieces to the socket, each in a packet of its own if the kernel lets it, and goes away in one way or the other. */
const writeRaw = (socketPath: string, pieces: readonly Uint8Array[], ending: "end" | "destroy"): Promise<void> =>
  new Promise((resolve) => {
    const socket = connectSocket({ path: socketPath });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve());
    socket.resume();
    const next = (index: number): void => {
      const piece = pieces[index];
      if (socket.destroyed) return;
      if (piece) socket.write(piece, () => setImmediate(next, index + 1));
      else if (ending === "destroy") socket.destroy();
      else socket.end();
    };
    socket.on("connect", () => next(0));
    // The server may wait for more, as it must: a peer that ends its half may still be read.
    setTimeout(() => socket.destroy(), 200).unref();
  });

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** A frame with any type, flags and stream, right or wrong in its length. */
const frame = fc
  .record({
    type: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 255 })),
    flags: fc.oneof(fc.constantFrom(0, 1, 4, 5), fc.integer({ min: 0, max: 255 })),
    streamId: fc.constantFrom(0, 1, 2, 3, 5, 2_147_483_647),
    payload: fc.uint8Array({ maxLength: 64 }),
    lengthFault: fc.oneof(
      { arbitrary: fc.constant(0), weight: 5 },
      { arbitrary: fc.integer({ min: -64, max: 20_000 }), weight: 1 },
    ),
  })
  .map(({ type, flags, streamId, payload, lengthFault }) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(Math.max(0, payload.length + lengthFault), 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(streamId, 5);
    return Buffer.concat([head, payload]);
  });

const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

const garbage = fc.oneof(
  fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 5 }),
  fc
    .array(fc.oneof(frame, fc.uint8Array({ maxLength: 30 })), { maxLength: 8 })
    .map((frames) => [preface, settings, ...frames]),
);

const paths = [
  "/cloudprovider.v1.CloudProvider/BatchGetInstances",
  "/cloudprovider.v1.CloudProvider/WatchInstances",
  "/cloudprovider.v1.CloudProvider/Nothing",
  "/grpc.health.v1.Health/Check",
  "/grpc.health.v1.Health/Watch",
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  "/",
  "*",
  "/cloudprovider.v1.CloudProvider",
];

/** The five bytes before a message and the message; the length may be wrong, the flag may claim a compression that was not negotiated. */
const grpcFrame = fc
  .record({
    flag: fc.constantFrom(0, 0, 0, 1, 255),
    lengthFault: fc.constantFrom(0, 0, 0, -1, 1, 100, 4_294_967_295),
    bytes: fc.uint8Array({ maxLength: 60 }),
  })
  .map(({ flag, lengthFault, bytes }) => {
    const head = Buffer.alloc(5);
    head.writeUInt8(flag, 0);
    head.writeUInt32BE(Math.min(4_294_967_295, Math.max(0, bytes.length + lengthFault)), 1);
    return Buffer.concat([head, bytes]);
  });

const strangeStream = fc.record({
  headers: fc.record(
    {
      ":method": fc.constantFrom("POST", "POST", "POST", "GET", "OPTIONS"),
      ":path": fc.constantFrom(...paths),
      "content-type": fc.constantFrom(
        ...Array.from({ length: 8 }, () => "application/grpc"),
        "application/grpc+json",
        "text/html",
        "",
      ),
      te: fc.constant("trailers"),
      "grpc-timeout": fc.constantFrom("1S", "0n", "99999999H", "-1S", "x", "", "100000000000000000000m"),
      "grpc-encoding": fc.constantFrom("identity", "gzip", "snappy", "x"),
      "grpc-accept-encoding": fc.constantFrom("gzip", "identity,,", "x".repeat(2_000)),
      "x-request-id": fc.constantFrom("r-1", "x".repeat(4_000), "a b"),
      traceparent: fc.constantFrom(
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-zz",
        "x".repeat(3_000),
      ),
      "x-thing-bin": fc.constantFrom("AAAA", "!!!!", "A"),
    },
    { requiredKeys: [":method", ":path", "content-type"] },
  ),
  body: fc.array(grpcFrame, { maxLength: 3 }),
  ending: fc.constantFrom("end", "end", "halfOpen", "reset"),
});

interface StrangeStream {
  readonly headers: http2.OutgoingHttpHeaders;
  readonly body: readonly Buffer[];
  readonly ending: "end" | "halfOpen" | "reset";
}

const openSession = async (socketPath: string): Promise<http2.ClientHttp2Session> => {
  const session = http2.connect("http://localhost", { createConnection: () => connectSocket({ path: socketPath }) });
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  await new Promise((resolve) => session.once("connect", resolve));
  return session;
};

/** Watches and reflection continue until a peer ends them, and a stream whose caller does not end it waits for more. */
const endsByItself = ({ headers, ending }: StrangeStream): boolean =>
  ending === "end" && !/Watch|Reflection/.test(String(headers[":path"]));

/** What the server made of a stream: the statuses of HTTP and gRPC, or `hung`. */
const send = (session: http2.ClientHttp2Session, strange: StrangeStream): Promise<string> =>
  new Promise((resolve) => {
    const { headers, body, ending } = strange;
    const stream = session.request(headers, { endStream: false });
    const seen = { http: "reset", grpc: "none" };
    const note = (received: http2.IncomingHttpHeaders) => {
      seen.http = String(received[":status"] ?? seen.http);
      seen.grpc = String(received["grpc-status"] ?? seen.grpc);
    };
    const cancel = () => stream.close(http2.constants.NGHTTP2_CANCEL);
    const hung = setTimeout(() => resolve("hung"), hangMs);
    stream.on("response", note);
    stream.on("trailers", note);
    stream.on("error", () => undefined);
    stream.on("close", () => {
      clearTimeout(hung);
      resolve(`${seen.http}/${seen.grpc}`);
    });
    stream.resume();
    for (const piece of body) stream.write(piece);
    if (ending === "end") stream.end();
    if (ending === "reset") cancel();
    else if (!endsByItself(strange)) setTimeout(cancel, 20);
  });

describe("the socket", () => {
  test(
    "survives whatever is written to it, and serves on",
    async () => {
      const { socketPath, isWell, bootId } = await serve();
      await fc.assert(
        fc.asyncProperty(garbage, fc.constantFrom("end", "destroy"), async (pieces, ending) => {
          await writeRaw(socketPath, pieces, ending);
        }),
        parameters,
      );
      expect(await isWell()).toBe(bootId);
    },
    timeoutMs,
  );

  test(
    "ends every stream, however strange its headers and frames, and keeps the others of its session",
    async () => {
      const { socketPath, isWell, bootId } = await serve();
      await fc.assert(
        fc.asyncProperty(fc.array(strangeStream, { minLength: 1, maxLength: 10 }), async (streams) => {
          const session = await openSession(socketPath);
          const ends = await Promise.all(streams.map((stream) => send(session, stream)));
          expect(ends).not.toContain("hung");
          session.destroy();
        }),
        parameters,
      );
      expect(await isWell()).toBe(bootId);
    },
    timeoutMs,
  );

  test(
    "forgets callers who open a stream and send nothing",
    async () => {
      const { socketPath, isWell, bootId } = await serve();
      const session = await openSession(socketPath);
      const headers = { ":method": "POST", ":path": paths[0], "content-type": "application/grpc", te: "trailers" };
      for (let index = 0; index < 200; index++)
        session.request(headers, { endStream: false }).on("error", () => undefined);
      expect(await isWell()).toBe(bootId);
      session.destroy();
      expect(await isWell()).toBe(bootId);
    },
    timeoutMs,
  );
});
