import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { EventStreams, type StreamMessage } from "./event-streams.ts";
import { startLoopbackServer } from "./loopback-server.ts";
import type { RunningServer } from "./endpoints.ts";

const LIMIT = 3;
const POLL = { timeout: 10_000, interval: 10 };

/** One feed as a reader has it. */
class Feed {
  readonly messages: StreamMessage[] = [];
  readonly wake: () => void;
  isClosed = false;
  /** How often it was asked. */
  asked = 0;

  constructor(wake: () => void) {
    this.wake = wake;
  }

  next(): StreamMessage | undefined {
    this.asked++;
    return this.messages.shift();
  }

  close(): void {
    this.isClosed = true;
  }
}

let clock: FakeClock;
let feeds: Feed[];
let log: FakeLog;
let streams: EventStreams;
let server: RunningServer;
const sockets: Socket[] = [];

beforeEach(async () => {
  clock = new FakeClock();
  log = new FakeLog();
  feeds = [];
  streams = new EventStreams({
    open: (wake) => {
      const feed = new Feed(wake);
      feeds.push(feed);
      return feed;
    },
    limit: LIMIT,
    clock,
    log,
  });
  server = await startLoopbackServer({
    address: { host: "127.0.0.1", port: 0 },
    register: (pages) => streams.serve(pages, "/stream"),
  });
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

interface Reader {
  readonly socket: Socket;
  /** All that came. */
  readonly text: () => string;
  readonly ended: Promise<unknown>;
}

/** A reader that takes what comes until it is paused. */
async function read(): Promise<Reader> {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  sockets.push(socket);
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
  const ended = once(socket, "close");
  socket.write("GET /stream HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await vi.waitFor(() => expect(text).toContain("\r\n\r\n"), POLL);
  return { socket, text: () => text, ended };
}

/** Waits before it opens the stream, as the secure server does for authorization. */
async function guardedServer(
  isAllowed: (peer: Socket) => Promise<void>,
): Promise<RunningServer & { [Symbol.asyncDispose](): Promise<void> }> {
  const running = await startLoopbackServer({
    address: { host: "127.0.0.1", port: 0 },
    register: (pages) => {
      pages.addHook("onRequest", async ({ url, raw }) => (url === "/stream" ? isAllowed(raw.socket) : undefined));
      streams.serve(pages, "/stream");
    },
  });
  return { ...running, [Symbol.asyncDispose]: () => running.close() };
}

const feedOf = (index: number): Feed => {
  const feed = feeds[index];
  if (feed === undefined) throw new Error(`no reader opened feed ${index}`);
  return feed;
};

describe("EventStreams", () => {
  test("sends the feed's messages, at the start and after each wake", async () => {
    const { text } = await read();
    const feed = feedOf(0);
    feed.messages.push({ event: "one", data: "1" }, { event: "two", data: "2" });
    feed.wake();
    await vi.waitFor(() => expect(text()).toContain("event: one\ndata: 1\n\n"), POLL);
    await vi.waitFor(() => expect(text()).toContain("event: two\ndata: 2\n\n"), POLL);
    expect(text()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(text()).toContain("content-type: text/event-stream; charset=utf-8\r\n");
    expect(text()).toContain("retry: 2000\n\n");
  });

  test("keeps a quiet connection alive with comments", async () => {
    const { text } = await read();
    await clock.advance(30_000);
    await vi.waitFor(() => expect(text().split(":\n\n")).toHaveLength(3), POLL);
  });

  test("reads nothing from a feed while its reader stalls, and disconnects a reader that stays stalled", async () => {
    const { socket } = await read();
    const quick = await read();
    socket.pause();
    const feed = feedOf(0);
    const big = { event: "big", data: "x".repeat(1_000_000) };
    // More than the buffers of both ends take.
    for (let i = 0; i < 100; i++) feed.messages.push(big);
    feed.wake();
    await vi.waitFor(() => expect(feed.messages.length).toBeLessThan(100), POLL);
    await vi.waitFor(() => {
      const asked = feed.asked;
      feed.wake();
      return new Promise<void>((resolve, reject) => {
        setImmediate(() => (feed.asked === asked ? resolve() : reject(new Error("still asked"))));
      });
    }, POLL);
    expect(feed.messages.length).toBeGreaterThan(50);
    expect({ closed: feed.isClosed, readers: streams.size }).toEqual({ closed: false, readers: 2 });
    await clock.advance(60_000);
    await vi.waitFor(() => expect(feed.isClosed).toBe(true), POLL);
    expect({ readers: streams.size, quick: feedOf(1).isClosed, ended: quick.socket.closed }).toEqual({
      readers: 1,
      quick: false,
      ended: false,
    });
  });

  test("a reader that catches up gets the rest", async () => {
    const { socket, text } = await read();
    socket.pause();
    const feed = feedOf(0);
    for (let i = 0; i < 40; i++) feed.messages.push({ event: `big${i}`, data: "x".repeat(500_000) });
    feed.wake();
    await vi.waitFor(() => expect(feed.messages.length).toBeLessThan(40), POLL);
    socket.resume();
    await vi.waitFor(() => expect(text()).toContain("event: big39\n"), POLL);
    expect(text().match(/event: big\d+\n/g)).toHaveLength(40);
  });

  test("rejects readers over the limit, and accepts one when another disconnects", async () => {
    const readers = [await read(), await read(), await read()];
    const refused = await fetch(`${server.url}/stream`);
    expect({
      status: refused.status,
      after: refused.headers.get("retry-after"),
      text: await refused.text(),
    }).toEqual({
      status: 503,
      after: "10",
      text: "this stream has 3 readers, which is the limit; close one\n",
    });
    readers[0]?.socket.destroy();
    await vi.waitFor(() => expect(streams.size).toBe(2), POLL);
    expect(feedOf(0).isClosed).toBe(true);
    const { text } = await read();
    expect(text()).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("frees the place of a reader that disconnects during authorization", async () => {
    const isAllowed = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<Socket>();
    await using guarded = await guardedServer((socket) => {
      asked.resolve(socket);
      return isAllowed.promise;
    });
    const socket = connect(Number(new URL(guarded.url).port), "127.0.0.1");
    sockets.push(socket);
    socket.write("GET /stream HTTP/1.1\r\nhost: localhost\r\n\r\n");
    const peer = await asked.promise;
    const gone = once(peer, "close");
    socket.destroy();
    await gone;
    isAllowed.resolve();
    await fetch(`${guarded.url}/after`);
    expect({ readers: streams.size, feeds: feeds.length, timers: clock.timers }).toEqual({
      readers: 0,
      feeds: 0,
      timers: 0,
    });
  });

  test("a feed that throws disconnects only its reader and is logged", async () => {
    const { ended } = await read();
    const other = await read();
    feedOf(0).next = () => {
      throw new Error("planted");
    };
    feedOf(0).wake();
    await ended;
    feedOf(1).messages.push({ event: "still", data: "1" });
    feedOf(1).wake();
    await vi.waitFor(() => expect(other.text()).toContain("event: still\n"), POLL);
    expect(log.lines).toMatchObject([{ level: "error", message: expect.stringContaining("An event stream failed") }]);
  });

  test("ends each stream after half an hour, so that rights are asked about again", async () => {
    const { text } = await read();
    await clock.advance(30 * 60_000);
    await vi.waitFor(() => expect(feedOf(0).isClosed).toBe(true), POLL);
    expect(text()).toMatch(/\r\n0\r\n\r\n$/);
    expect(clock.timers).toBe(0);
  });

  test("a server that closes ends its streams, those of slow readers too, and waits for none", async () => {
    const quick = await read();
    const slow = await read();
    slow.socket.pause();
    for (let i = 0; i < 100; i++) feedOf(1).messages.push({ event: "big", data: "x".repeat(1_000_000) });
    feedOf(1).wake();
    await vi.waitFor(() => expect(feedOf(1).messages.length).toBeLessThan(100), POLL);
    await server.close();
    await quick.ended;
    expect(quick.text()).toMatch(/\r\n0\r\n\r\n$/);
    await vi.waitFor(() => expect(feeds.map(({ isClosed }) => isClosed)).toEqual([true, true]), POLL);
    expect({ readers: streams.size, timers: clock.timers }).toEqual({ readers: 0, timers: 0 });
  });
});
