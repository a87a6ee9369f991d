/** Who called, in the words of W3C trace context. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the caller's span. */
  readonly spanId: string;
  /** 8 bits; the lowest says that the caller's span is exported. */
  readonly flags: number;
}

const wellFormed = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})$/;

/** undefined for what is malformed: it is ignored, as W3C demands, and never fails a call. */
export const parseTraceparent = (text: string): TraceContext | undefined => {
  const [, traceId, spanId, flags] = wellFormed.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
};

/** ID of the trace that a call belongs to; undefined when the trace is not exported, so that no one looks for it. */
export const exportedTraceId = (traceparent: string | undefined): string | undefined => {
  const context = traceparent === undefined ? undefined : parseTraceparent(traceparent);
  return context !== undefined && (context.flags & 1) === 1 ? context.traceId : undefined;
};
