import { errorText } from "../error-text.ts";
import type { MessageStream } from "./stream.ts";
import { type Exchange, outcomeLine } from "./exchange.ts";
import { type Outcome, toEnd } from "./outcome.ts";

/** How a stream ended; its messages came before. */
export type StreamEnd = Outcome<undefined> & { readonly exchange: Exchange };

/** What an open stream brought next. */
export type NextMessage<Response> =
  | { readonly kind: "message"; readonly message: Response; readonly bytes: Buffer }
  /** Nothing came within the time. */
  | { readonly kind: "quiet" }
  | { readonly kind: "ended"; readonly called: StreamEnd };

/** What is known of a stream when it is opened. */
export interface StreamDeps<Response> {
  readonly messages: MessageStream;
  readonly decode: (bytes: Uint8Array) => Response;
  readonly opening: Omit<Exchange, "elapsedMs" | "answer">;
  readonly record?: ((exchange: Exchange) => void) | undefined;
}

/** A call with many answers, under way. Never rejects: what a provider does is a step. */
export class OpenStream<Response> {
  readonly #deps: StreamDeps<Response>;
  #count = 0;
  #ended: StreamEnd | undefined;

  constructor(deps: StreamDeps<Response>) {
    this.#deps = deps;
  }

  /** The call so far, for findings. */
  get exchange(): Exchange {
    return this.#exchange("open");
  }

  async next(waitMs: number): Promise<NextMessage<Response>> {
    if (this.#ended !== undefined) return { kind: "ended", called: this.#ended };
    const step = await this.#deps.messages.next(waitMs);
    if (step.kind === "quiet") return step;
    if (step.kind === "ended") return this.#end(toEnd(step.wire));
    this.#count += 1;
    try {
      return { kind: "message", message: this.#deps.decode(step.bytes), bytes: step.bytes };
    } catch (cause) {
      const wire = { headers: {}, trailers: {}, body: step.bytes, elapsedMs: this.#deps.messages.elapsedMs };
      this.#deps.messages.cancel();
      return this.#end({
        kind: "broken",
        broken: `message ${this.#count} is no valid protobuf message: ${errorText(cause)}`,
        wire,
      });
    }
  }

  /** How it ends, whatever it brings until then; one that does not end within the time is broken. */
  async end(waitMs: number): Promise<StreamEnd> {
    const endMs = performance.now() + waitMs;
    for (;;) {
      const next = await this.next(Math.max(0, endMs - performance.now()));
      if (next.kind === "ended") return next.called;
      if (performance.now() < endMs) continue;
      const broken = `the stream did not end within ${waitMs} ms`;
      const wire = { headers: {}, trailers: {}, body: Buffer.alloc(0), elapsedMs: this.#deps.messages.elapsedMs };
      return { kind: "broken", broken, wire, exchange: this.#exchange("still open") };
    }
  }

  cancel(): void {
    this.#deps.messages.cancel();
    if (this.#ended === undefined) this.#deps.record?.(this.#exchange("cancelled by the kit"));
  }

  #end(outcome: ReturnType<typeof toEnd>): { readonly kind: "ended"; readonly called: StreamEnd } {
    const called = { ...outcome, exchange: this.#exchange(outcomeLine(outcome)) };
    this.#ended = called;
    this.#deps.record?.(called.exchange);
    return { kind: "ended", called };
  }

  #exchange(answer: string): Exchange {
    const { opening, messages } = this.#deps;
    const many = this.#count === 1 ? "1 message" : `${this.#count} messages`;
    return { ...opening, elapsedMs: messages.elapsedMs, answer: `${many}, ${answer}` };
  }
}
