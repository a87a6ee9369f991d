/** What a span says. Names of OpenTelemetry's semantic conventions where there is one, `cloudwire.…` otherwise; undefined is left out. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** What is known of a piece of work before it begins. */
export interface SpanStart {
  /** One of few: what tells one piece of work from another of its kind belongs into attributes. */
  readonly name: string;
  /** `client`: a call to another process; `server`: one from there. */
  readonly kind: "internal" | "client" | "server";
  readonly attributes: SpanAttributes;
}

/** A piece of work under way, as traces will show it. */
export interface Span {
  /** W3C trace context for whoever is called within; undefined: none. */
  readonly traceparent: string | undefined;
  /** False: it is not exported, only its ids are handed on. */
  readonly isSampled: boolean;
  set(attributes: SpanAttributes): void;
  /** Marks it as failed. `type` is one of few, for `error.type`. @default the error's code or, without one, its name */
  fail(error: unknown, type?: string): void;
}

/**
 * Traces of this process, or {@link NO_TRACING}. The current span follows the asynchronous flow, as the call
 * stack does the synchronous one: nothing that a controller decides may depend on it.
 */
export interface Tracing {
  /** The span that the caller works in. */
  readonly current: Span | undefined;
  /**
   * Does `work` in a span of a new trace, or of the one that `caller` says: W3C trace context; what is malformed is passed over. `start` is
   * asked only where there is to be a span.
   */
  root<T>(start: () => SpanStart, work: (span: Span) => Promise<T>, caller?: string): Promise<T>;
  /** Does `work` in a span below the current one; where there is none, in none. */
  child<T>(start: () => SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
  /**
   * Does `work` on behalf of several at once: its spans are below the first of `askers` that is exported and linked to the others.
   * With no askers it has no current span.
   */
  shared<T>(askers: readonly Span[], work: () => Promise<T>): Promise<T>;
}

/** No piece of a trace: work that nobody will see. */
export const NO_SPAN: Span = {
  traceparent: undefined,
  isSampled: false,
  set: () => undefined,
  fail: () => undefined,
};

/** Traces are off: work is done, and that is all. */
export const NO_TRACING: Tracing = {
  current: undefined,
  root: (_start, work) => work(NO_SPAN),
  child: (_start, work) => work(NO_SPAN),
  shared: (_askers, work) => work(),
};
