/** Names of OpenTelemetry's semantic conventions, or `cloudwire.…`; undefined values are omitted. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

export interface SpanStart {
  /** Of low cardinality; details belong into attributes. */
  readonly name: string;
  /** `client`: a call to another process; `server`: a call from one. */
  readonly kind: "internal" | "client" | "server";
  readonly attributes: SpanAttributes;
}

export interface Span {
  /** W3C trace context for calls within the span. */
  readonly traceparent: string | undefined;
  /** False: it is not exported; only its IDs are propagated. */
  readonly isSampled: boolean;
  set(attributes: SpanAttributes): void;
  /** @param type of low cardinality, for `error.type`. @default the error's code or, without one, its name */
  fail(error: unknown, type?: string): void;
}

/** Traces of this process, or {@link NO_TRACING}. The current span follows the asynchronous flow; decisions must not depend on it. */
export interface Tracing {
  /** The span of the caller. */
  readonly current: Span | undefined;
  /**
   * Runs `work` in a span of a new trace, or of the trace of `caller`: a W3C trace context, ignored if malformed. Calls `start` only if it
   * creates a span.
   */
  root<T>(start: () => SpanStart, work: (span: Span) => Promise<T>, caller?: string): Promise<T>;
  /** Runs `work` in a child of the current span, or without a span if there is none. */
  child<T>(start: () => SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
  /** Runs `work` for several callers: its spans are children of the first exported one of `callers`, with links to the others. */
  shared<T>(callers: readonly Span[], work: () => Promise<T>): Promise<T>;
}

export const NO_SPAN: Span = {
  traceparent: undefined,
  isSampled: false,
  set: () => undefined,
  fail: () => undefined,
};

export const NO_TRACING: Tracing = {
  current: undefined,
  root: (_start, work) => work(NO_SPAN),
  child: (_start, work) => work(NO_SPAN),
  shared: (_callers, work) => work(),
};
