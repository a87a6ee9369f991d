import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { parseTraceParent } from "@opentelemetry/core";
import { messageOf } from "../util/errors.ts";
import { NO_SPAN, type Span, type SpanAttributes, type SpanStart, type Tracing } from "./tracing.ts";

const MAX_MESSAGE_CHARS = 256;

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

interface Scope {
  readonly span: RunningSpan;
  /** Other spans that the work is shared with. */
  readonly links: readonly RunningSpan[];
}

/** Nothing is registered globally: libraries in this process are not traced. */
export class OtelTracing implements Tracing {
  readonly #tracer: Tracer;
  readonly #scopes = new AsyncLocalStorage<Scope | undefined>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  get current(): Span | undefined {
    return this.#scopes.getStore()?.span;
  }

  root<T>(start: () => SpanStart, work: (span: Span) => Promise<T>, caller = ""): Promise<T> {
    const remote = parseTraceParent(caller);
    const parent = remote === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true });
    return this.#run(start(), parent, [], work);
  }

  child<T>(start: () => SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
    const scope = this.#scopes.getStore();
    if (scope === undefined) return work(NO_SPAN);
    return this.#run(start(), trace.setSpan(ROOT_CONTEXT, scope.span.otel), scope.links, work);
  }

  shared<T>(callers: readonly Span[], work: () => Promise<T>): Promise<T> {
    const spans = [...new Set(callers)].filter((caller) => caller instanceof RunningSpan);
    const span = spans.find(({ isSampled }) => isSampled) ?? spans[0];
    const scope = span && { span, links: spans.filter((other) => other !== span) };
    return this.#scopes.run(scope, work);
  }

  async #run<T>(
    { name, kind, attributes }: SpanStart,
    parent: Context,
    linked: readonly RunningSpan[],
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const links = linked.map(({ otel }) => ({ context: otel.spanContext() }));
    const options = { kind: KINDS[kind], attributes: known(attributes), links };
    const span = new RunningSpan(this.#tracer.startSpan(name, options, parent));
    try {
      return await this.#scopes.run({ span, links: [] }, () => work(span));
    } catch (error) {
      span.fail(error);
      throw error;
    } finally {
      span.otel.end();
    }
  }
}

class RunningSpan implements Span {
  readonly otel: OtelSpan;
  readonly traceparent: string;
  #failed = false;

  constructor(otel: OtelSpan) {
    const { traceId, spanId, traceFlags } = otel.spanContext();
    this.otel = otel;
    this.traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
  }

  get isSampled(): boolean {
    return (this.otel.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
  }

  set(attributes: SpanAttributes): void {
    if (this.otel.isRecording()) this.otel.setAttributes(known(attributes));
  }

  /** The first call counts: the innermost one knows the cause. */
  fail(error: unknown, type = typeOf(error)): void {
    if (this.#failed || !this.otel.isRecording()) return;
    this.#failed = true;
    this.otel.setAttribute("error.type", type);
    this.otel.setStatus({ code: SpanStatusCode.ERROR, message: messageOf(error).slice(0, MAX_MESSAGE_CHARS) });
  }
}

function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return "_OTHER";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

function known(attributes: SpanAttributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
