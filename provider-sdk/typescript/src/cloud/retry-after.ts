/** Longest wait believed; a header in another unit must not stop an object for a day. */
const maxRetryAfterMs = 15 * 60_000;

/**
 * The wait that a `Retry-After` header tells, in milliseconds, at most 15 minutes: seconds or a date (RFC 9110, 10.2.3). Undefined for
 * what is neither, and for no wait at all, which would have everybody come back at once. For `retryAfterMs` of a `ProviderError`; `nowMs` is the time now, in milliseconds since 1970.
 */
export const parseRetryAfter = (header: string | null | undefined, nowMs: number): number | undefined => {
  const text = header?.trim() ?? "";
  if (text === "") return undefined;
  const seconds = Number(text);
  // Names of days and months are what tells a date from a number that is none.
  const untilMs = /[A-Za-z]{3}/.test(text) ? Date.parse(text) - nowMs : Number.NaN;
  const waitMs = Number.isNaN(seconds) ? untilMs : seconds * 1_000;
  return Number.isFinite(waitMs) && waitMs > 0 ? Math.min(waitMs, maxRetryAfterMs) : undefined;
};
