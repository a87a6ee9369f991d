import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Logger } from "../telemetry/log.ts";
import type { Clock, Timer } from "../util/clock.ts";
import { sendText } from "./endpoints.ts";

/** One server-sent event; `data` is one line. */
export interface StreamMessage {
  readonly event: string;
  readonly data: string;
}

/** What one reader of a stream is told. */
export interface EventFeed {
  /** What is to be said next; undefined: nothing now. Asked for only while the reader keeps up, so that nothing piles up for one that does not. */
  next(): StreamMessage | undefined;
  /** Nobody reads any more. */
  close(): void;
}

export interface EventStreamsDependencies {
  /** Begins a feed; `wake` says that it has something to say again. */
  readonly open: (wake: () => void) => EventFeed;
  /** Readers at the same time. */
  readonly limit: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Without a word for so long, proxies take a connection for dead. */
const HEARTBEAT_MS = 15_000;

/** A reader that has taken nothing for so long is not one any more. */
const STALLED_MS = 60_000;

/** Whoever may read is asked for at the beginning only: a stream ends, and its reader comes back and is asked again. */
const LIFETIME_MS = 30 * 60_000;

/** Until a browser comes back. */
const RETRY_MS = 2000;

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  // nginx would hold back what is said until it is much.
  "x-accel-buffering": "no",
};

/** Streams of server-sent events with one limit for all servers that serve them. */
export class EventStreams {
  readonly #deps: EventStreamsDependencies;
  readonly #writers = new Set<EventWriter>();

  constructor(dependencies: EventStreamsDependencies) {
    this.#deps = dependencies;
  }

  /** Readers now. */
  get size(): number {
    return this.#writers.size;
  }

  /** Puts the stream on a server, whose end ends it. */
  serve(server: FastifyInstance, path: string): void {
    const own = new Set<EventWriter>();
    server.get(path, { exposeHeadRoute: false }, (_request, reply) => this.#begin(reply, own));
    server.addHook("preClose", async () => {
      for (const writer of own) writer.end();
    });
  }

  #begin(reply: FastifyReply, own: Set<EventWriter>): FastifyReply {
    const { limit } = this.#deps;
    const { raw } = reply;
    // Gone while somebody was asked whether they may read: it would never be said again.
    if (raw.destroyed) return reply.hijack();
    if (this.#writers.size >= limit) {
      void reply.header("retry-after", "10");
      return sendText(reply, 503, `there are ${limit} readers of this stream already, which is the limit; close one\n`);
    }
    void reply.hijack();
    raw.writeHead(200, HEADERS);
    const writer = new EventWriter(raw, this.#deps);
    for (const writers of [this.#writers, own]) writers.add(writer);
    raw.once("close", () => {
      for (const writers of [this.#writers, own]) writers.delete(writer);
      writer.closed();
    });
    return reply;
  }
}

/** Writes one feed to one reader, as fast as the reader takes it and no faster. */
class EventWriter {
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #feed: EventFeed;
  #heartbeat: Timer;
  readonly #lifetime: Timer;
  /** Runs while the reader does not take what was written. */
  #stalled: Timer | undefined;
  #isNext = false;
  #isOver = false;

  constructor(response: ServerResponse, { open, clock, log }: EventStreamsDependencies) {
    this.#response = response;
    this.#clock = clock;
    this.#log = log;
    this.#heartbeat = clock.schedule(HEARTBEAT_MS, () => this.#beat());
    this.#lifetime = clock.schedule(LIFETIME_MS, () => this.end());
    response.on("drain", () => this.#drained());
    // A connection that breaks is closed, which is all there is to do about it.
    response.on("error", () => undefined);
    response.write(`retry: ${RETRY_MS}\n\n`);
    this.#feed = open(() => this.#pump());
    this.#pump();
  }

  /** In order: the reader learns that there is no more. */
  end(): void {
    this.#isOver = true;
    this.#response.end();
  }

  /** The connection is gone. */
  closed(): void {
    this.#isOver = true;
    for (const timer of [this.#heartbeat, this.#lifetime, this.#stalled]) timer?.cancel();
    this.#feed.close();
  }

  /** One message a turn of the event loop: a long beginning holds up nobody. */
  #pump(): void {
    if (this.#isNext || this.#isOver) return;
    this.#isNext = true;
    setImmediate(() => {
      this.#isNext = false;
      if (this.#isOver || this.#stalled !== undefined) return;
      const message = this.#next();
      if (message === undefined) return;
      this.#write(`event: ${message.event}\ndata: ${message.data}\n\n`);
      this.#pump();
    });
  }

  /** A fault of a feed costs its reader the connection, and nobody else anything. */
  #next(): StreamMessage | undefined {
    try {
      return this.#feed.next();
    } catch (error) {
      this.#log.error("A stream of events broke by a fault of this program; its reader is let go", { err: error });
      this.#response.destroy();
      return undefined;
    }
  }

  #write(text: string): void {
    if (this.#response.write(text)) return;
    this.#stalled = this.#clock.schedule(STALLED_MS, () => this.#response.destroy());
  }

  #drained(): void {
    this.#stalled?.cancel();
    this.#stalled = undefined;
    this.#pump();
  }

  #beat(): void {
    if (this.#isOver) return;
    if (this.#stalled === undefined) this.#write(":\n\n");
    this.#heartbeat = this.#clock.schedule(HEARTBEAT_MS, () => this.#beat());
  }
}
