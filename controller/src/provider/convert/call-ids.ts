import { randomUUID } from "node:crypto";

/** What tells one call from all others, in our log, the provider's and the cloud's. */
export interface CallId {
  readonly requestId: string;
  /** W3C trace context of the call where nothing traces it. */
  readonly traceparent: string;
}

export interface CallIds {
  next(): CallId;
}

/** Length of a W3C span id in hexadecimal digits. */
const SPAN_DIGITS = 16;

/** Ids that are unique in the world; each with a trace of its own that nobody exports, so that no provider begins one. */
export function randomCallIds(): CallIds {
  return {
    next: () => {
      const requestId = randomUUID();
      const digits = requestId.replaceAll("-", "");
      return { requestId, traceparent: `00-${digits}-${digits.slice(0, SPAN_DIGITS)}-00` };
    },
  };
}
