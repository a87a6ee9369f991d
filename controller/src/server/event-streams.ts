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

/** The messages for one reader. */
export interface EventFeed {
  /** The next message; undefined: none now. Called only while the reader keeps up, so that no backlog builds up. */
  next(): StreamMessage | undefined;
  /** The reader is gone. */
  close(): void;
}

export interface EventStreamsDependencies {
  /** Opens a feed, which calls `wake` when it has messages again. */
  readonly open: (wake: () => void) => EventFeed;
  /** Concurrent readers. */
  readonly limit: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Proxies close connections that are idle for long. */
const HEARTBEAT_MS = 15_000;

/** A reader that has read nothing for this long is disconnected. */
const STALLED_MS = 60_000;

/** A reader is authorized only at the start of a stream: it reconnects and is authorized again. */
const LIFETIME_MS = 30 * 60_000;

/** Delay after which a browser reconnects. */
const RETRY_MS = 2000;

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  // nginx buffers responses otherwise.
  "x-accel-buffering": "no",
};

/** Server-sent events with one limit for all servers. */
export class EventStreams {
  readonly #deps: EventStreamsDependencies;
  readonly #writers = new Set<EventWriter>();

  constructor(dependencies: EventStreamsDependencies) {
    this.#deps = dependencies;
  }

  get size(): number {
    return this.#writers.size;
  }

  /** Closing `server` ends its streams. */
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
    // Disconnected during authorization: no event would report it again.
    if (raw.destroyed) return reply.hijack();
    if (this.#writers.size >= limit) {
      void reply.header("retry-after", "10");
      return sendText(reply, 503, `this stream has ${limit} readers, which is the limit; close one\n`);
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

/** Writes one feed to one reader, no faster than it reads. */
class EventWriter {
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #feed: EventFeed;
  #heartbeat: Timer;
  readonly #lifetime: Timer;
  /** Runs while the reader does not read. */
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
    // Node closes a connection that fails.
    response.on("error", () => undefined);
    response.write(`retry: ${RETRY_MS}\n\n`);
    this.#feed = open(() => this.#pump());
    this.#pump();
  }

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

  /** One message per turn of the event loop: a long initial list must not block others. */
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

  /** A feed that throws disconnects only its reader. */
  #next(): StreamMessage | undefined {
    try {
      return this.#feed.next();
    } catch (error) {
      this.#log.error("An event stream failed; its reader was disconnected", { err: error });
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
