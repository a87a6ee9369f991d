import { namespaceOf } from "../../api/meta.ts";
import { currentWork } from "../../observe/work.ts";
import type { QuotaClass } from "../model/call-rate.ts";
import { sleep } from "../../util/abort.ts";
import { type BackoffOptions, backoffMs } from "../../util/backoff.ts";
import type { Clock, Random } from "../../util/clock.ts";
import type { Admission, Priority, Semaphore } from "../../util/semaphore.ts";
import type { CallBudget } from "./call-budget.ts";
import { asProviderError, isOfClass, isProviderError, ProviderError } from "../model/errors.ts";
import type { Rpc, RpcCaller, RpcOptions } from "../convert/methods.ts";

/** Attempts of a read and the delays between them. proto/README.md section 5, class T. */
const MAX_TRIES = 3;
const RETRY: BackoffOptions = { initialMs: 200, maxMs: 2000, jitter: 0.2 };

/** Pause when the provider was throttled but succeeded, and names no retry delay. */
const THROTTLED_PAUSE_MS = 1000;

export interface RateLimitedOptions extends RpcOptions {
  readonly priority: Priority;
  /** Called just before the call is sent: an error cancels it. */
  readonly refuse?: () => void;
}

export interface RateLimitedCallerDeps {
  readonly caller: RpcCaller;
  readonly budget: CallBudget;
  readonly semaphore: Semaphore;
  /** Resolves when calls are possible; rejects with a ProviderError when they are not. */
  readonly admit: (rpc: { readonly name: string; readonly isChange: boolean }, signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
}

/** Sends calls within the provider's limits, pauses them while it is throttled, and retries reads while it is unavailable. */
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
        if (tries === MAX_TRIES || rpc.isChange || options.signal.aborted) throw asCancelled(error, rpc.name, options);
        const waitMs = retryWaitMs(error, tries, this.#deps.random);
        if (waitMs === undefined) throw asCancelled(error, rpc.name, options);
        await sleep(waitMs, options.signal, this.#deps.clock).catch(() => {
          throw asCancelled(error, rpc.name, options);
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
    const admission = { priority, signal, group: namespaceOf(currentWork()?.key ?? "") };
    const leave = await (quotaClass === undefined ? semaphore.enter(admission) : this.#enter(quotaClass, admission));
    let cost = 0;
    try {
      await admit(rpc, signal);
      options.refuse?.();
      cost = 1;
      const response = await caller.unary(rpc, request, options);
      const stats = rpc.stats(response);
      cost = Math.max(1, stats?.cloudCalls ?? 1);
      if (quotaClass !== undefined && stats?.throttled === true) budget.hold(quotaClass, THROTTLED_PAUSE_MS);
      return response;
    } catch (error) {
      if (quotaClass !== undefined && isOfClass(error, "WAIT")) budget.hold(quotaClass, error.retryAfterMs);
      throw error;
    } finally {
      // After the pause has started: the next call must see it.
      leave();
      if (quotaClass !== undefined) budget.settle(quotaClass, cost);
    }
  }

  /** Acquires budget and a place. A call that was paused while waiting for a place queues again. */
  async #enter(quotaClass: QuotaClass, admission: Admission): Promise<() => void> {
    const { budget, semaphore, clock } = this.#deps;
    for (;;) {
      await budget.acquire(quotaClass, admission);
      const acquiredMs = clock.monotonicMs();
      const leave = await semaphore.enter(admission).catch((error: unknown) => {
        budget.settle(quotaClass, 0);
        throw error;
      });
      if (!budget.isHeldSince(quotaClass, acquiredMs)) return leave;
      leave();
    }
  }
}

/** undefined: an immediate retry is useless. */
function retryWaitMs(error: unknown, tries: number, random: Random): number | undefined {
  if (!isProviderError(error, "UNAVAILABLE")) return undefined;
  const waitMs = Math.max(backoffMs(RETRY, tries, random), error.retryAfterMs ?? 0);
  return waitMs > RETRY.maxMs * (1 + (RETRY.jitter ?? 0)) ? undefined : waitMs;
}

/** Queued calls end with the signal's reason; callers get a ProviderError. */
function asCancelled(error: unknown, name: string, { signal, requestId }: RateLimitedOptions): ProviderError {
  if (error instanceof ProviderError || !signal.aborted) return asProviderError(error);
  const message = `${name}: canceled while queued`;
  return new ProviderError({ code: "CANCELLED", message, requestId }, { cause: signal.reason });
}
