import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer as createHttp2Server } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { serveReference } from "../reference/provider.ts";
import { runConformance } from "../suite/run-conformance.ts";

const main = join(import.meta.dirname, "..", "main.ts");

const temporaryDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "conformance-hostile-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

/** A server at a port of loopback that does to each connection what a test says. */
const listenTcp = async (onConnection: (socket: Socket) => void): Promise<string> => {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return `tcp://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
};

test.each<[string, (socket: Socket) => void, RegExp]>([
  ["hangs in it", () => undefined, /within 1 s: TLS handshake: it takes connections and does not answer it/],
  [
    "hangs up in it",
    (socket) => void socket.destroy(),
    /within 1 s: .*(?:TLS handshake|closes them at once|ECONNRESET)/,
  ],
  [
    "speaks HTTP/1 instead",
    (socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
    /TLS handshake: .* does not speak TLS/,
  ],
])("runConformance() says so in time when a server of TLS %s", async (_name, onConnection, wanted) => {
  const endpoint = await listenTcp(onConnection);
  await expect(runConformance({ endpoint, tls: {}, startTimeoutMs: 700 })).rejects.toThrow(wanted);
});

test("runConformance() blocks what is left when the socket vanishes in the middle of a run", async () => {
  const reference = await serveReference();
  onTestFinished(() => reference.close().catch(() => undefined));
  const vanish = async (id: string): Promise<void> => {
    if (id === "info.version.major") await rm(reference.path, { force: true });
  };
  const report = await runConformance({
    endpoint: reference.endpoint,
    run: ["info.**", "health.*", "proc.conn.churn"],
    parallel: 1,
    onEvent: (event) => event.kind === "finished" && void vanish(event.result.id),
  });
  expect(report.profiles.map(({ result }) => result)).toEqual(["failed"]);
  const churn = report.results.find(({ id }) => id === "proc.conn.churn");
  expect(["fail", "blocked"]).toContain(churn?.result.kind);
});

/** The most memory that a process ever had, in MiB (Linux: VmHWM). */
const peakMiB = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1_024;
};

/** Runs the kit in a process of its own, and returns how it ended and how much memory it used. */
const measured = async (endpoint: string) => {
  const args = ["--conditions=development", main, "run", "--endpoint", endpoint, "--start-timeout", "4"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const err: string[] = [];
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk.toString()));
  let peak = 0;
  const timer = setInterval(() => void peakMiB(child.pid ?? 0).then((mib) => (peak = Math.max(peak, mib))), 50);
  const code = await new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  clearInterval(timer);
  return { code, err: err.join(""), peak };
};

/** A gRPC server that writes its answer as fast as it is read, and never ends it. */
const listenEndless = async (): Promise<string> => {
  const path = join(await temporaryDirectory(), "provider.sock");
  const server = createHttp2Server();
  server.on("session", (session) => session.on("error", () => undefined));
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    stream.respond({ ":status": 200, "content-type": "application/grpc" });
    const piece = Buffer.alloc(1_048_576);
    const more = (): void => {
      while (!stream.destroyed && stream.write(piece));
    };
    stream.on("drain", more);
    more();
  });
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  onTestFinished(() => void server.close());
  return `unix://${path}`;
};

/** Far below what a flood of some seconds brings over a socket: gigabytes. */
const boundMiB = 512;

describe("cloudwire-conformance run", () => {
  test.each([
    ["an answer that never ends", listenEndless, /the answer is longer than 16777216 bytes/],
    [
      "bytes that are no gRPC",
      () =>
        listenTcp((socket) => {
          const piece = Buffer.alloc(1_048_576, "x");
          const more = (): void => {
            while (!socket.destroyed && socket.write(piece));
          };
          socket.on("drain", more);
          more();
        }),
      /it is not gRPC: it answered "xxxx/,
    ],
  ])("keeps its memory when it is flooded with %s, with exit code 3", async (_name, listen, wanted) => {
    const { code, err, peak } = await measured(await listen());
    expect(err).toMatch(wanted);
    expect(code).toBe(3);
    expect(peak).toBeGreaterThan(20);
    expect(peak).toBeLessThan(boundMiB);
  });
});
