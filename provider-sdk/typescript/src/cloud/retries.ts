import type { CloudCall } from "../definition/call-context.ts";
import type { RateLimit } from "../definition/provider.ts";

export const tooManyRequests = 429;

/** What a proxy refused (407) is no answer of the cloud either. */
const failures = new Set([401, 403, 407, 408, tooManyRequests]);

/** True: the request was not answered, so that nothing may be concluded from it. Other statuses of 4xx are answers. */
export const isUnanswered = ({ status, error }: Pick<CloudCall, "status" | "error">): boolean =>
  error !== undefined || (status !== undefined && (status >= 500 || failures.has(status)));

/** Hosts remembered; a cloud has a handful. */
const maxHosts = 16;

/** Above it a reset is a moment in seconds since 1970 (GitHub, DigitalOcean, Hetzner), below it seconds from now (IETF draft 06). */
const epochSeconds = 1_000_000_000;

/** What the cloud's own answers say of its call budgets, by host: headers `RateLimit-*` and `X-RateLimit-*`. */
export class ObservedRateLimits {
  readonly #byHost = new Map<string, RateLimit>();

  /** Takes what one answer says; most say nothing. */
  observe(host: string, headers: Headers, nowMs: number): void {
    const found = readRateLimit(headers, nowMs);
    if (found === undefined || (!this.#byHost.has(host) && this.#byHost.size >= maxHosts)) return;
    this.#byHost.set(host, { name: host, ...found });
  }

  /** The newest of each host. */
  get current(): readonly RateLimit[] {
    return [...this.#byHost.values()];
  }
}

const readRateLimit = (headers: Headers, nowMs: number): Omit<RateLimit, "name"> | undefined => {
  for (const prefix of ["ratelimit-", "x-ratelimit-"]) {
    const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
      wholeNumber(headers, prefix + name),
    );
    if (limit === undefined || remaining === undefined) continue;
    return { limit, remaining, ...(reset === undefined ? {} : { resetTime: resetTime(reset, nowMs) }) };
  }
  return undefined;
};

const resetTime = (reset: number, nowMs: number): Date =>
  new Date(reset >= epochSeconds ? Math.min(reset, maxEpochSeconds) * 1_000 : nowMs + reset * 1_000);

/** Year 9999: what protobuf's timestamps end with. */
const maxEpochSeconds = 253_402_300_799;

/** `100, 100;w=60` is 100. */
const wholeNumber = (headers: Headers, name: string): number | undefined => {
  const text = /^\s*(\d{1,15})\s*(?:[,;]|$)/.exec(headers.get(name) ?? "")?.[1];
  return text === undefined ? undefined : Number(text);
};

/** Longest wait believed; a header in another unit must not stop an object for a day. */
const maxRetryAfterMs = 15 * 60_000;

/**
 * The wait that a `Retry-After` header requests, in milliseconds, at most 15 minutes: seconds or a date (RFC 9110, 10.2.3). Undefined for
 * other texts, and for 0, with which all clients would retry at the same time. For `retryAfterMs` of a `ProviderError`; `nowMs` is the
 * current time in milliseconds since 1970.
 */
export const parseRetryAfter = (header: string | null | undefined, nowMs: number): number | undefined => {
  const text = header?.trim() ?? "";
  if (text === "") return undefined;
  const seconds = Number(text);
  // Names of days and months distinguish a date from an invalid number.
  const untilMs = /[A-Za-z]{3}/.test(text) ? Date.parse(text) - nowMs : Number.NaN;
  const waitMs = Number.isNaN(seconds) ? untilMs : seconds * 1_000;
  return Number.isFinite(waitMs) && waitMs > 0 ? Math.min(waitMs, maxRetryAfterMs) : undefined;
};

/** Repetitions that may be made at once after a quiet time. */
const maxTokens = 10;

/** What each request that is no repetition adds: one repetition for ten requests. */
const tokensPerRequest = 0.1;

/**
 * How many requests to the cloud may be repeated, over all calls of the provider. While a cloud is down, every request fails: repeating
 * each of them three times would make its load fourfold at the worst moment. So repetitions are a tenth of the requests in the long run.
 */
export class RetryBudget {
  #tokens = maxTokens;

  /** A request is made that repeats none. */
  earn(): void {
    this.#tokens = Math.min(maxTokens, this.#tokens + tokensPerRequest);
  }

  /** True: one repetition may be made, and is taken off. */
  spend(): boolean {
    // Tenths do not add up exactly.
    if (this.#tokens < 1 - 1e-9) return false;
    this.#tokens -= 1;
    return true;
  }
}
