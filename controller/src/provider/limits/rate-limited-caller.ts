import type { QuotaClass } from "../model/call-rate.ts";
import { sleep } from "../../util/abort.ts";
import { type BackoffOptions, backoffMs } from "../../util/backoff.ts";
import type { Clock, Random } from "../../util/clock.ts";
import type { Priority, Semaphore } from "../../util/semaphore.ts";
import type { CallBudget } from "./call-budget.ts";
import { asProviderError, isOfClass, isProviderError, ProviderError } from "../model/errors.ts";
import type { Rpc, RpcCaller, RpcOptions } from "../convert/methods.ts";

/** Tries of a read and the waits between them. proto/README.md section 5, class T. */
const MAX_TRIES = 3;
const RETRY: BackoffOptions = { initialMs: 200, maxMs: 2000, jitter: 0.2 };

/** The provider was throttled, came through all the same and does not say for how long: its next calls wait a moment and then go slower. */
const THROTTLED_HOLD_MS = 1000;

export interface RateLimitedOptions extends RpcOptions {
  readonly priority: Priority;
  /** Asked just before the call is sent: a throw ends it. */
  readonly refuse?: () => void;
}

export interface RateLimitedCallerDeps {
  readonly caller: RpcCaller;
  readonly budget: CallBudget;
  readonly semaphore: Semaphore;
  /** Resolves when calls can be made; rejects with a ProviderError when they cannot, or not soon. */
  readonly admit: (rpc: { readonly name: string; readonly isChange: boolean }, signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
}

/** Calls one after the other's turn: within the provider's limits, held back while it throttles, reads repeated while it is away. */
export class RateLimitedCaller {
  readonly #deps: RateLimitedCallerDeps;

  constructor(deps: RateLimitedCallerDeps) {
    this.#deps = deps;
  }

  async call<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: Request,
    options: RateLimitedOptions,
  ): Promise<Response> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#once(rpc, request, options);
      } catch (error) {
        if (tries === MAX_TRIES || rpc.isChange || options.signal.aborted) throw asGivenUp(error, rpc.name, options);
        const waitMs = retryWaitMs(error, tries, this.#deps.random);
        if (waitMs === undefined) throw asGivenUp(error, rpc.name, options);
        await sleep(waitMs, options.signal, this.#deps.clock).catch(() => {
          throw asGivenUp(error, rpc.name, options);
        });
      }
    }
  }

  async #once<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: Request,
    options: RateLimitedOptions,
  ): Promise<Response> {
    const { caller, admit, budget, semaphore } = this.#deps;
    const { priority, signal } = options;
    const { quotaClass } = rpc;
    const leave = await (quotaClass === undefined
      ? semaphore.enter(priority, signal)
      : this.#enter(quotaClass, options));
    let cost = 0;
    try {
      await admit(rpc, signal);
      options.refuse?.();
      cost = 1;
      const response = await caller.unary(rpc, request, options);
      const stats = rpc.stats(response);
      cost = Math.max(1, stats?.cloudCalls ?? 1);
      if (quotaClass !== undefined && stats?.throttled === true) budget.hold(quotaClass, THROTTLED_HOLD_MS);
      return response;
    } catch (error) {
      if (quotaClass !== undefined && isOfClass(error, "WAIT")) budget.hold(quotaClass, error.retryAfterMs);
      throw error;
    } finally {
      // After the hold: whoever enters next must find it.
      leave();
      if (quotaClass !== undefined) budget.settle(quotaClass, cost);
    }
  }

  /** Within the budget, and one of the calls that may be under way. Who is put on hold while waiting for the latter gets in line again. */
  async #enter(quotaClass: QuotaClass, { priority, signal }: RateLimitedOptions): Promise<() => void> {
    const { budget, semaphore, clock } = this.#deps;
    for (;;) {
      await budget.acquire(priority, quotaClass, signal);
      const acquiredMs = clock.monotonicMs();
      const leave = await semaphore.enter(priority, signal).catch((error: unknown) => {
        budget.settle(quotaClass, 0);
        throw error;
      });
      if (!budget.isHeldSince(quotaClass, acquiredMs)) return leave;
      leave();
    }
  }
}

/** undefined: trying again at once is no use. */
function retryWaitMs(error: unknown, tries: number, random: Random): number | undefined {
  if (!isProviderError(error, "UNAVAILABLE")) return undefined;
  const waitMs = Math.max(backoffMs(RETRY, tries, random), error.retryAfterMs ?? 0);
  return waitMs > RETRY.maxMs * (1 + (RETRY.jitter ?? 0)) ? undefined : waitMs;
}

/** Waits for a turn end with the signal's reason; callers get a ProviderError like any other. */
function asGivenUp(error: unknown, name: string, { signal, requestId }: RateLimitedOptions): ProviderError {
  if (error instanceof ProviderError || !signal.aborted) return asProviderError(error);
  const message = `${name}: given up while waiting to be sent`;
  return new ProviderError({ code: "CANCELLED", message, requestId }, { cause: signal.reason });
}
