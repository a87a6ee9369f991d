import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from "node:http2";
import { type WireResponse, withoutStatus } from "./connection.ts";
import { cutFrames } from "./frames.ts";

/** What a stream of answers brought next. */
export type StreamStep =
  | { readonly kind: "message"; readonly bytes: Buffer }
  /** Nothing came within the time. */
  | { readonly kind: "quiet" }
  | { readonly kind: "ended"; readonly wire: WireResponse };

/** Messages that wait to be asked for before the stream is read no further. */
const maxWaiting = 1_000;
/** Longest message that the kit takes in; the contract allows 1 MiB. */
const maxMessageBytes = 16 * 2 ** 20;

/** Reads the answers of a stream one by one, no faster than they are asked for. Never rejects: how it ends is a step. */
export class MessageStream {
  readonly #stream: ClientHttp2Stream | undefined;
  readonly #startedMs = performance.now();
  readonly #waiting: Buffer[] = [];
  #rest: Buffer = Buffer.alloc(0);
  #headers: IncomingHttpHeaders = {};
  #trailers: IncomingHttpHeaders = {};
  #broken: string | undefined;
  #end: WireResponse | undefined;
  #wake: () => void = () => undefined;

  /** `stream`: a text says why there is none. */
  constructor(stream: ClientHttp2Stream | string, signal: AbortSignal) {
    if (typeof stream === "string") {
      this.#broken = stream;
      this.#end = this.#answer();
      return;
    }
    this.#stream = stream;
    const aborted = (): void => this.cancel();
    signal.addEventListener("abort", aborted, { once: true });
    stream.on("response", (got) => {
      this.#headers = got;
      // An answer without body carries its status in the headers.
      if ("grpc-status" in got) this.#trailers = got;
    });
    stream.on("trailers", (got) => (this.#trailers = got));
    stream.on("data", (chunk: Buffer) => this.#take(chunk));
    stream.on("error", (error) => (this.#broken ??= error.message));
    stream.once("close", () => {
      signal.removeEventListener("abort", aborted);
      if (!("grpc-status" in this.#trailers)) this.#broken ??= withoutStatus(this.#headers, stream.rstCode);
      if (this.#rest.length > 0) this.#broken ??= `the stream ended with ${this.#rest.length} bytes of a message`;
      this.#end = this.#answer();
      this.#wake();
    });
    if (signal.aborted) aborted();
  }

  /** The next message, or the end; waits at most the given time. */
  async next(waitMs: number): Promise<StreamStep> {
    const endMs = performance.now() + waitMs;
    // A part of a message is news, and no message yet.
    for (let leftMs = waitMs; this.#waiting.length === 0 && this.#end === undefined && leftMs > 0; ) {
      await this.#news(leftMs);
      leftMs = endMs - performance.now();
    }
    const bytes = this.#waiting.shift();
    if (this.#waiting.length === 0) this.#stream?.resume();
    if (bytes !== undefined) return { kind: "message", bytes };
    return this.#end === undefined ? { kind: "quiet" } : { kind: "ended", wire: this.#end };
  }

  /** Cancels the call at the server: no client reads it any longer. */
  cancel(): void {
    this.#broken ??= "the kit cancelled the call";
    this.#stream?.close(constants.NGHTTP2_CANCEL);
    // A peer that reads nothing would keep a closed stream waiting.
    this.#stream?.destroy();
  }

  /** Since it was opened. */
  get elapsedMs(): number {
    return performance.now() - this.#startedMs;
  }

  #news(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #take(chunk: Buffer): void {
    const { messages, rest, problem } = cutFrames(Buffer.concat([this.#rest, chunk]), maxMessageBytes);
    this.#rest = rest;
    this.#waiting.push(...messages);
    if (problem !== undefined) {
      this.#broken ??= `the body is not gRPC: ${problem}`;
      this.#stream?.destroy();
    }
    if (this.#waiting.length >= maxWaiting) this.#stream?.pause();
    this.#wake();
  }

  #answer(): WireResponse {
    const answer = {
      headers: this.#headers,
      trailers: this.#trailers,
      body: Buffer.alloc(0),
      elapsedMs: this.elapsedMs,
    };
    return this.#broken === undefined ? answer : { ...answer, broken: this.#broken };
  }
}
