import { mkdtemp, rm } from "node:fs/promises";
import { createServer as createHttp2Server } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { describe, expect, onTestFinished, test } from "vitest";
import { runConformance } from "../suite/run-conformance.ts";
import { frame } from "./frames.ts";

const socketPath = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "hostile-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return join(directory, "provider.sock");
};

/** A server that does to each connection what a test says. */
const listen = async (onConnection: (socket: Socket) => void): Promise<string> => {
  const path = await socketPath();
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `unix://${path}`;
};

/** Writes as fast as the reader takes it, for ever. */
const flood = (socket: Socket, bytes: Buffer): void => {
  const more = (): void => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on("drain", more);
  more();
};

/** A gRPC server whose every answer is what a test says. */
const listenGrpc = async (body: () => Buffer | undefined, status = "0"): Promise<string> => {
  const path = await socketPath();
  const server = createHttp2Server();
  server.on("session", (session) => session.on("error", () => undefined));
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    const bytes = body();
    if (bytes === undefined) return;
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": status }));
    stream.end(bytes);
  });
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  onTestFinished(() => void server.close());
  return `unix://${path}`;
};

/** Speaks HTTP/2, and hangs up as soon as it is asked something. */
const listenClosing = async (): Promise<string> => {
  const path = await socketPath();
  const server = createHttp2Server();
  server.on("session", (session) => {
    session.on("error", () => undefined);
    session.on("stream", (stream) => {
      stream.on("error", () => undefined);
      session.destroy();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  onTestFinished(() => void server.close());
  return `unix://${path}`;
};

const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const ping = Buffer.concat([Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0]), Buffer.alloc(8)]);
const run = (endpoint: string) => runConformance({ endpoint, startTimeoutMs: 700 });

describe("runConformance()", () => {
  test.each<[string, () => Promise<string>, RegExp]>([
    ["nothing listens", async () => `unix://${await socketPath()}`, /within 1 s: connect ENOENT/],
    [
      "an HTTP/1 server answers",
      () => listen((socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
      /it is not gRPC: it answered "HTTP\/1\.1 400/,
    ],
    ["a server says nothing", () => listen(() => undefined), /it takes connections and says nothing/],
    [
      "a server hangs up",
      () => listen((socket) => void socket.destroy()),
      /it takes connections and closes them at once/,
    ],
    [
      "a server floods",
      () => listen((socket) => flood(socket, Buffer.alloc(65_536, "x"))),
      /it is not gRPC: it answered "xxxx/,
    ],
    [
      "a server floods with frames of HTTP/2",
      () => listen((socket) => flood(socket, Buffer.concat([settings, ...Array.from({ length: 1_000 }, () => ping)]))),
      /GetProviderInfo ended with/,
    ],
    [
      "a gRPC server never answers",
      () => listenGrpc(() => undefined),
      /GetProviderInfo ended with there was no answer within/,
    ],
    ["a gRPC server answers garbage", () => listenGrpc(() => Buffer.from("garbage!")), /the body is not gRPC/],
    [
      "a gRPC server answers a message that is none",
      () => listenGrpc(() => frame(Buffer.from([0x0a, 0x7f, 0x41]))),
      /the answer is no valid protobuf message/,
    ],
    [
      "a gRPC server answers without end",
      () => listenGrpc(() => Buffer.alloc(40 * 2 ** 20)),
      /GetProviderInfo ended with/,
    ],
    [
      "a gRPC server is another",
      () => listenGrpc(() => Buffer.alloc(0), "12"),
      /a gRPC server, but not one of cloudprovider\.v1/,
    ],
    [
      "a server closes each connection after the handshake of HTTP/2",
      () => listenClosing(),
      /GetProviderInfo ended with/,
    ],
    [
      "a name has no address",
      async () => "tcp://no-such-host.invalid:9443",
      /DNS: the name "no-such-host\.invalid" has no address/,
    ],
    ["nothing listens at a port", async () => "tcp://127.0.0.1:1", /within 1 s: connect ECONNREFUSED 127\.0\.0\.1:1/],
    ["a gRPC server has no such code", () => listenGrpc(() => Buffer.alloc(0), "99"), /grpc-status is "99"/],
  ])("says so in time when %s", async (_name, start, wanted) => {
    await expect(run(await start())).rejects.toThrow(wanted);
  });

  test("says so when a gRPC server answers 100 MB", async () => {
    // As long as a busy machine may take to send them.
    const endpoint = await listenGrpc(() => Buffer.alloc(100 * 2 ** 20));
    await expect(runConformance({ endpoint, startTimeoutMs: 5_000 })).rejects.toThrow(/the answer is longer than/);
  });

  test("blocks what is left when a provider stops answering after the handshake", async () => {
    const info = GetProviderInfoResponse.fromPartial({ name: "mute.example.com", scopeId: "s", contractMajor: 1 });
    let answers = 1;
    const handshake = frame(GetProviderInfoResponse.encode(info).finish());
    const endpoint = await listenGrpc(() => (answers-- > 0 ? handshake : undefined));
    const report = await runConformance({ endpoint, run: ["info.*", "health.*"], slowFactor: 0.1 });
    const kinds = new Set(report.results.map(({ result }) => result.kind));
    expect(kinds).toEqual(new Set(["fail", "blocked", "skip"]));
    expect(report.profiles.map(({ result }) => result)).toEqual(["failed"]);
  });
});
