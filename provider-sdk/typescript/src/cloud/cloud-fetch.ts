import type { CloudCall, CloudRequestInit } from "../definition/call-context.ts";
import { classifyError } from "../results/classify.ts";
import { ObservedRateLimits, RetryBudget, parseRetryAfter } from "./retries.ts";
import { type Clock, pause } from "../util/clock.ts";

/** What the requests of one provider to its cloud share. */
export interface CloudFetcherOptions {
  readonly clock: Clock;
  /** 0 to below 1. */
  readonly random: () => number;
  /** Makes one request. */
  readonly transport: typeof fetch;
}

/** On whose behalf a request is made. */
export interface FetchScope {
  /** Ends the request and the waits between its tries. */
  readonly signal: AbortSignal;
  /** Time left; no repetition begins that would not have any. */
  readonly remainingMs: () => number;
  /** Called when an attempt ends. */
  readonly tried: (call: CloudCall) => void;
  /** Called once with all attempts in their order, also after a failure. */
  readonly ended: (tries: readonly CloudCall[]) => void;
}

/** Tries of one request, the first included. */
const maxTries = 4;
/** Waits between tries double from the first on, each less up to half of it by chance. */
const firstWaitMs = 200;
/** What is left for a try after its wait, at least. */
const minTryMs = 100;

/** RFC 9110, 9.2.2: the same request twice has the effect of one. */
const idempotentMethods = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);
const readMethods = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** 501 and 505 will not be another time. */
const retriedStatuses = new Set([429, 500, 502, 503, 504]);

type Input = Parameters<typeof fetch>[0];
type Try =
  | { readonly kind: "answer"; readonly response: Response }
  | { readonly kind: "failure"; readonly error: unknown };

/** Makes requests to the cloud: repeats those that failed for a moment, within a budget, and heeds what the cloud says of its limits. */
export class CloudFetcher {
  readonly #options: CloudFetcherOptions;
  readonly #budget = new RetryBudget();
  readonly #rateLimits = new ObservedRateLimits();

  constructor(options: CloudFetcherOptions) {
    this.#options = options;
  }

  /** What the cloud's answers said of its call budgets. */
  get rateLimits(): ObservedRateLimits {
    return this.#rateLimits;
  }

  /** As `fetch`: any status is an answer. The last try's outcome is the outcome. */
  async fetch(input: Input, init: CloudRequestInit | undefined, callScope: FetchScope): Promise<Response> {
    const tries: CloudCall[] = [];
    this.#budget.earn();
    try {
      return await this.#repeat(planRequest(input, init, callScope.signal), callScope, tries);
    } finally {
      callScope.ended(tries);
    }
  }

  async #repeat(request: PlannedRequest, callScope: FetchScope, tries: CloudCall[]): Promise<Response> {
    while (true) {
      const outcome = await this.#try(request);
      const tried = { ...describe(outcome), mutation: request.mutation, retry: tries.length > 0 };
      tries.push(tried);
      callScope.tried(tried);
      const waitMs = this.#waitBeforeNext(request, outcome, tries.length, callScope);
      if (waitMs === undefined) return settle(outcome);
      // An unread body blocks its connection for the next attempt.
      if (outcome.kind === "answer") await outcome.response.body?.cancel().catch(() => undefined);
      await pause(waitMs, request.init.signal, this.#options.clock);
    }
  }

  async #try({ input, init }: PlannedRequest): Promise<Try> {
    try {
      const response = await this.#options.transport(input, init);
      this.#rateLimits.observe(hostOf(input), response.headers, this.#options.clock.nowMs());
      return { kind: "answer", response };
    } catch (error) {
      return { kind: "failure", error };
    }
  }

  /** How long to wait before the next attempt; undefined: do not retry. */
  #waitBeforeNext(
    { init, mayRepeat }: PlannedRequest,
    outcome: Try,
    tries: number,
    callScope: FetchScope,
  ): number | undefined {
    if (!mayRepeat || tries >= maxTries || init.signal.aborted || !isPassing(outcome)) return undefined;
    const longestMs = firstWaitMs * 2 ** (tries - 1);
    const retryAfterMs = outcome.kind === "answer" ? this.#reported(outcome.response) : undefined;
    const waitMs = Math.max(longestMs * (1 - this.#options.random() / 2), retryAfterMs ?? 0);
    return waitMs + minTryMs <= callScope.remainingMs() && this.#budget.spend() ? waitMs : undefined;
  }

  #reported(response: Response): number | undefined {
    return parseRetryAfter(response.headers.get("retry-after"), this.#options.clock.nowMs());
  }
}

interface PlannedRequest {
  readonly input: Input;
  readonly init: RequestInit & { readonly signal: AbortSignal };
  readonly mutation: boolean;
  readonly mayRepeat: boolean;
}

const planRequest = (input: Input, init: CloudRequestInit | undefined, callSignal: AbortSignal): PlannedRequest => {
  const { retry, ...rest } = init ?? {};
  const request = input instanceof Request ? input : undefined;
  const method = (rest.method ?? request?.method ?? "GET").toUpperCase();
  const given = rest.signal ?? request?.signal;
  return {
    input,
    init: { ...rest, signal: given ? AbortSignal.any([given, callSignal]) : callSignal },
    mutation: !readMethods.has(method),
    mayRepeat: (retry ?? idempotentMethods.has(method)) && isReplayable(input, rest.body),
  };
};

/** A stream is gone once it was sent. */
const isReplayable = (input: Input, body: RequestInit["body"]): boolean => {
  if (body === undefined || body === null) return !(input instanceof Request && input.body !== null);
  return (
    typeof body === "string" ||
    ArrayBuffer.isView(body) ||
    [ArrayBuffer, Blob, FormData, URLSearchParams].some((kind) => body instanceof kind)
  );
};

/** True: the same request may well succeed a moment later. */
const isPassing = (outcome: Try): boolean => {
  if (outcome.kind === "answer") return retriedStatuses.has(outcome.response.status);
  const { error } = classifyError(outcome.error, { mutation: false, correlationId: "" });
  return error.reason === "CLOUD_UNAVAILABLE" || error.reason === "CLOUD_TIMEOUT";
};

const describe = (outcome: Try): CloudCall =>
  outcome.kind === "answer"
    ? { status: outcome.response.status, requestId: cloudRequestId(outcome.response.headers) }
    : { error: outcome.error };

/** How clouds name their own id of a request. */
const requestIdHeaders = ["x-request-id", "x-amzn-requestid", "x-ms-request-id", "x-goog-request-id", "request-id"];

const cloudRequestId = (headers: Headers): string | undefined =>
  requestIdHeaders.map((name) => headers.get(name)).find((value) => value !== null && value !== "") ?? undefined;

const settle = (outcome: Try): Response => {
  if (outcome.kind === "failure") throw outcome.error;
  return outcome.response;
};

const hostOf = (input: Input): string => {
  const url = input instanceof Request ? input.url : String(input);
  return URL.parse(url)?.host ?? "";
};
