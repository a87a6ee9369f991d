import { parseRetryAfter } from "@cloudwire/provider-sdk";
import { readFault, type Refusal } from "./errors.ts";

/** Reads an answer that is not a success. @param nowMs for dates in `Retry-After` */
export async function readRefusal(response: Response, request: string, nowMs: number): Promise<Refusal> {
  const text = await response.text();
  return {
    request,
    status: response.status,
    ...readFault(parsed(text)),
    // Old versions of Nova return 0 for an exhausted quota.
    retryAfterMs: parseRetryAfter(response.headers.get("retry-after"), nowMs),
  };
}

/** Proxies in front of OpenStack return their own pages. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
