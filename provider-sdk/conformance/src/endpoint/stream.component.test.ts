import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type ServerHttp2Stream } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Connection } from "./connection.ts";
import { frame } from "./frames.ts";
import { MessageStream, type StreamStep } from "./stream.ts";

const patienceMs = 10_000;

/** A stream from a server that does with it what a test says. */
const open = async (serve: (stream: ServerHttp2Stream) => void, signal = new AbortController().signal) => {
  const directory = await mkdtemp(join(tmpdir(), "stream-test-"));
  const path = join(directory, "server.sock");
  const server = createServer();
  server.on("session", (session) => onTestFinished(() => session.destroy()));
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    stream.resume();
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "14" }));
    serve(stream);
  });
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  const connection = new Connection({ kind: "unix", path });
  onTestFinished(async () => {
    connection.close();
    server.close();
    await rm(directory, { recursive: true });
  });
  const messages = new MessageStream(
    connection.open({ path: "/a.B/Watch", body: frame(Buffer.alloc(0)), patienceMs }),
    signal,
  );
  return { connection, messages };
};

const texts = async (messages: MessageStream, count: number): Promise<readonly string[]> => {
  const seen: string[] = [];
  for (let index = 0; index < count; index++) seen.push(textOf(await messages.next(patienceMs)));
  return seen;
};

const textOf = (step: StreamStep): string => {
  if (step.kind === "message") return step.bytes.toString();
  return step.kind === "quiet" ? "quiet" : (step.wire.broken ?? `status ${String(step.wire.trailers["grpc-status"])}`);
};

describe("MessageStream", () => {
  test("puts messages together that come in pieces, in their order, and then says how it ended", async () => {
    const { messages } = await open((stream) => {
      const bytes = Buffer.concat([frame(Buffer.from("one")), frame(Buffer.from("two"))]);
      for (const byte of bytes) stream.write(Buffer.from([byte]));
      stream.end();
    });
    expect(await texts(messages, 4)).toEqual(["one", "two", "status 14", "status 14"]);
  });

  test("says that nothing came, and goes on", async () => {
    const streams: ServerHttp2Stream[] = [];
    const { messages } = await open((stream) => streams.push(stream));
    expect(textOf(await messages.next(10))).toBe("quiet");
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    streams[0]?.write(frame(Buffer.from("late")));
    expect(await texts(messages, 1)).toEqual(["late"]);
  });

  test.each<[string, (stream: ServerHttp2Stream) => void, RegExp]>([
    ["is no gRPC", (stream) => void stream.write(Buffer.alloc(20, 0xff)), /the body is not gRPC: .* flag 255/],
    [
      "ends in the middle of a message",
      (stream) => void stream.end(Buffer.from([0, 0, 0, 0, 9, 1])),
      /6 bytes of a message/,
    ],
    ["is reset", (stream) => stream.close(2), /NGHTTP2_INTERNAL_ERROR|no grpc-status/],
  ])("says why a stream is broken that %s", async (_what, serve, wanted) => {
    const { messages } = await open(serve);
    expect((await texts(messages, 1))[0]).toMatch(wanted);
  });

  test("ends when its reader cancels, and cancels the call at the server", async () => {
    const gone = Promise.withResolvers<void>();
    const { messages } = await open((stream) => stream.once("close", () => gone.resolve()));
    expect(textOf(await messages.next(10))).toBe("quiet");
    messages.cancel();
    expect(await texts(messages, 1)).toEqual(["the kit cancelled the call"]);
    await gone.promise;
  });

  test("ends with its signal", async () => {
    const { messages } = await open(() => undefined, AbortSignal.timeout(10));
    expect(await texts(messages, 1)).toEqual(["the kit cancelled the call"]);
  });

  test("takes no more than it is asked for", async () => {
    const sent = { messages: 0, all: 20_000 };
    const { messages } = await open((stream) => {
      const message = frame(Buffer.alloc(1_000));
      const more = (): void => {
        while (sent.messages < sent.all) {
          sent.messages += 1;
          if (!stream.write(message)) return;
        }
        stream.end();
      };
      stream.on("drain", more);
      more();
    });
    expect((await messages.next(patienceMs)).kind).toBe("message");
    // Windows of 4 MiB, a thousand messages that wait, and the buffers between.
    await expect.poll(() => sent.messages, { timeout: patienceMs }).toBeGreaterThan(1_000);
    expect(sent.messages).toBeLessThan(sent.all);
    for (let count = 1; count < sent.all; count++) await messages.next(patienceMs);
    expect(sent.messages).toBe(sent.all);
    expect(await texts(messages, 1)).toEqual(["status 14"]);
  });

  test("says nothing while its connection allows no bytes, and all of it after", async () => {
    const { connection, messages } = await open((stream) => void stream.end(frame(Buffer.from("all"))));
    expect(await texts(messages, 2)).toEqual(["all", "status 14"]);
    await connection.allow(0);
    const stream = connection.open({ path: "/a.B/Watch", body: frame(Buffer.alloc(0)), patienceMs });
    const stalled = new MessageStream(stream, new AbortController().signal);
    expect(textOf(await stalled.next(100))).toBe("quiet");
    await connection.allow(1_000);
    expect(await texts(stalled, 2)).toEqual(["all", "status 14"]);
  });
});
