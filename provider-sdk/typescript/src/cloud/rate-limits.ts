import type { RateLimit } from "../definition/provider.ts";

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
