import { readFault, type Refusal } from "./errors.ts";

/** Reads an answer that is not a success. @param nowMs for dates in `Retry-After` */
export async function readRefusal(response: Response, request: string, nowMs: number): Promise<Refusal> {
  const text = await response.text();
  return {
    request,
    status: response.status,
    ...readFault(parsed(text)),
    retryAfterMs: retryAfterMs(response.headers.get("retry-after"), nowMs),
  };
}

/** Proxies in front of OpenStack answer with pages of their own. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function retryAfterMs(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  const seconds = Number(value);
  const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - nowMs;
  return waitMs > 0 ? Math.ceil(waitMs) : undefined;
}
