import { type MethodName, methodRules } from "@cloudwire/proto/methods";
import { isHarmless } from "../contract/harmless.ts";
import { type Method, serviceName } from "../contract/methods.ts";
import { errorText } from "../errors.ts";
import type { Connection, WireCall } from "./connection.ts";
import { type Exchange, type Outcome, outcomeLine, toEnd, toOutcome } from "./exchange.ts";
import { frame } from "./frames.ts";
import { MessageStream } from "./stream.ts";

/** How to call; everything has a default. */
export interface CallOptions {
  readonly service?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly authority?: string;
  /** "none": the server gets no deadline. Default: the method's. */
  readonly deadlineMs?: number | "none";
  /** When the kit gives up on its own. Default: a second after the deadline; a minute where a check sets none or a longer one. */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
  readonly connection?: Connection;
  /** Sent as they are, instead of the encoded request. */
  readonly requestBytes?: Uint8Array;
  /** Sent as they are, instead of a frame around the request. */
  readonly body?: Buffer;
}

/** An outcome and how it came about. */
export type Called<Response> = Outcome<Response> & { readonly exchange: Exchange };

/** A change that was admitted: what it may create that did not exist before. */
export interface AdmittedChange {
  readonly method: string;
  readonly request: Uint8Array;
  readonly fresh: readonly string[];
}

/** Records what calls may create, before they leave and once they have ended. */
export interface ChangeRecorder {
  /** Throws where the call may not be made. */
  admit(method: string, request: Uint8Array, check: string): AdmittedChange;
  ended(change: AdmittedChange, outcome: Outcome<unknown>): void;
}

/** What a caller needs. */
export interface CallerDeps {
  readonly connection: Connection;
  /** Ends every call of a check whose time is up. */
  readonly signal?: AbortSignal;
  readonly record?: (exchange: Exchange) => void;
  /** Records what calls create in the cloud. Without it, a call that could create something is a fault of the kit and throws. */
  readonly changes?: ChangeRecorder | undefined;
  /** Id of the check that calls. */
  readonly check?: string;
  /** Called with the check whose calls this one looks at, beside its own. */
  readonly borrowed?: ((from: string) => void) | undefined;
  /** Multiplies the deadlines that are not asked for. Default: 1. */
  readonly deadlineFactor?: number | undefined;
}

/** How long the kit waits beyond a deadline for the server to say so itself. */
const graceMs = 1_000;
/** Longest wait for a call without deadline, or with one that a check has made long; streams are read otherwise. */
const maxPatienceMs = 60_000;

/** How long the kit waits for an answer: past the method's own deadline, so that the server can say itself that it has passed. */
export const patienceOf = (deadlineMs: number | undefined, byCheck: boolean): number =>
  deadlineMs !== undefined && !byCheck
    ? deadlineMs + graceMs
    : Math.min((deadlineMs ?? maxPatienceMs) + graceMs, maxPatienceMs);

const deadlineOf = (method: string): number => {
  let name: MethodName;
  for (name in methodRules) if (name === method) return methodRules[name].deadlineMs;
  return 5_000;
};

/** How often a read is tried that ends with UNAVAILABLE: TIM-3. */
const readTries = 3;
/** What took longer was waited for, by the provider: another try would be, too. */
const quickMs = 1_000;

/** Any provider may have such a moment. One that ends does not come back. */
const isWorthRepeating = (name: string, outcome: Outcome<unknown>): boolean => {
  if (outcome.kind !== "error" || outcome.error.code !== 14 || outcome.wire.elapsedMs > quickMs) return false;
  let method: MethodName;
  for (method in methodRules)
    if (method === name)
      return !methodRules[method].change && outcome.error.infos.every(({ reason }) => reason !== "PROVIDER_DRAINING");
  return false;
};

/** Calls methods, over one connection by default. Never rejects: what a provider does is an outcome. */
export class Caller {
  readonly #deps: CallerDeps;

  constructor(deps: CallerDeps) {
    this.#deps = deps;
  }

  get connection(): Connection {
    return this.#deps.connection;
  }

  /** Takes note that this caller's check looks at what another's calls came to. */
  borrow(from: Caller): void {
    if (from.#deps.check !== undefined && from.#deps.check !== this.#deps.check)
      this.#deps.borrowed?.(from.#deps.check);
  }

  /** The same over another connection. */
  over(connection: Connection): Caller {
    return new Caller({ ...this.#deps, connection });
  }

  /** Calls a method with a request made of what is given. */
  async call<Partial, Request, Response>(
    method: Method<Partial, Request, Response>,
    request: Partial,
    options: CallOptions = {},
  ): Promise<Called<Response>> {
    const message = method.requestType.fromPartial(request);
    const encoded = method.requestType.encode(message).finish();
    const admitted = this.#admit(method.name, message, encoded);
    const asGiven = options.body !== undefined || options.requestBytes !== undefined;
    const body = options.body ?? frame(options.requestBytes ?? encoded);
    const wireCall = this.#wireCall(method.name, body, options);
    const reported = asGiven ? undefined : method.requestType.toJSON(message);
    for (let attempt = 1; ; attempt++) {
      const wire = await (options.connection ?? this.#deps.connection).call(wireCall);
      const outcome = toOutcome(wire, (answer) => method.responseType.decode(answer));
      const exchange = this.#took(wireCall, reported, wire.elapsedMs, outcomeLine(outcome));
      if (attempt < readTries && isWorthRepeating(method.name, outcome)) continue;
      if (admitted !== undefined) this.#deps.changes?.ended(admitted, outcome);
      return { ...outcome, exchange };
    }
  }

  /** Reports a call that has ended. */
  #took(wireCall: WireCall, request: unknown, elapsedMs: number, response: string): Exchange {
    const { path, headers = {}, deadlineMs, body } = wireCall;
    const sent = { path, request, requestBytes: body.length, headers, ...(deadlineMs !== undefined && { deadlineMs }) };
    const exchange: Exchange = { ...sent, elapsedMs, response };
    this.#deps.record?.(exchange);
    return exchange;
  }

  /** Opens a server-streaming method, by default without deadline. The caller has to cancel it. */
  open<Partial, Request, Response>(
    method: Method<Partial, Request, Response>,
    request: Partial,
    options: Omit<CallOptions, "body" | "requestBytes" | "patienceMs"> = {},
  ): OpenStream<Response> {
    const message = method.requestType.fromPartial(request);
    const body = frame(method.requestType.encode(message).finish());
    const wireCall = this.#wireCall(method.name, body, { deadlineMs: "none", ...options });
    const stream = (options.connection ?? this.#deps.connection).open(wireCall);
    const { path, headers = {}, deadlineMs } = wireCall;
    return new OpenStream({
      messages: new MessageStream(stream, wireCall.signal ?? new AbortController().signal),
      decode: (bytes) => method.responseType.decode(bytes),
      opening: {
        path,
        request: method.requestType.toJSON(message),
        requestBytes: body.length,
        headers,
        ...(deadlineMs !== undefined && { deadlineMs }),
      },
      record: this.#deps.record,
    });
  }

  /** Takes note of what may be made; throws for a change that this caller may not ask for. */
  #admit(method: string, message: unknown, encoded: Uint8Array): AdmittedChange | undefined {
    const { changes, check = "" } = this.#deps;
    if (changes !== undefined) return changes.admit(method, encoded, check);
    if (!isHarmless(method, message)) throw new TypeError(`a check of a level without changes called ${method}`);
    return undefined;
  }

  #wireCall(method: string, body: Buffer, options: CallOptions): WireCall {
    const { headers = {}, authority, service = serviceName } = options;
    const deadlineMs = options.deadlineMs ?? Math.round(deadlineOf(method) * (this.#deps.deadlineFactor ?? 1));
    const reported = deadlineMs === "none" || deadlineMs === 0 ? {} : { deadlineMs };
    const signals = [this.#deps.signal, options.signal].filter((signal) => signal !== undefined);
    const patienceMs = options.patienceMs ?? patienceOf(reported.deadlineMs, options.deadlineMs !== undefined);
    return {
      path: `/${service}/${method}`,
      body,
      headers,
      ...(this.#deps.check !== undefined && { check: this.#deps.check }),
      ...(authority !== undefined && { authority }),
      ...reported,
      patienceMs,
      signal: AbortSignal.any(signals),
    };
  }
}

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
  readonly opening: Omit<Exchange, "elapsedMs" | "response">;
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

  #exchange(response: string): Exchange {
    const { opening, messages } = this.#deps;
    const many = this.#count === 1 ? "1 message" : `${this.#count} messages`;
    return { ...opening, elapsedMs: messages.elapsedMs, response: `${many}, ${response}` };
  }
}
