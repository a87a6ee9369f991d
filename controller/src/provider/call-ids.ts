import { randomUUID } from "node:crypto";

/** What tells one call from all others, in our log, the provider's and the cloud's. */
export interface CallId {
  readonly requestId: string;
  /** W3C trace context. */
  readonly traceparent: string;
}

export interface CallIds {
  /** A new id; continues the trace given. */
  next(traceparent?: string): CallId;
}

/** Length of a W3C span id in hexadecimal digits. */
const SPAN_DIGITS = 16;

/** Ids that are unique in the world. Without a trace to continue, each call begins one that is not sampled. */
export function randomCallIds(): CallIds {
  return {
    next: (traceparent) => {
      const requestId = randomUUID();
      const digits = requestId.replaceAll("-", "");
      return { requestId, traceparent: traceparent ?? `00-${digits}-${digits.slice(0, SPAN_DIGITS)}-00` };
    },
  };
}
