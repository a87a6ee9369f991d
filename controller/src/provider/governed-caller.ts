import { sleep } from "../util/abort.ts";
import { type BackoffOptions, backoffMs } from "../util/backoff.ts";
import type { Clock, Random } from "../util/clock.ts";
import type { Semaphore } from "../util/semaphore.ts";
import type { CallBudget } from "./call-budget.ts";
import type { CallPriority } from "./client.ts";
import { asProviderError, isOfClass, isProviderError, ProviderError } from "./errors.ts";
import { DEFAULT_HOLD_MS } from "./retry-delay.ts";
import type { Rpc } from "./rpcs.ts";
import type { RpcCaller, RpcOptions } from "./transport.ts";

/** Tries of a read and the waits between them. proto/README.md section 5, class T. */
const MAX_TRIES = 3;
const RETRY: BackoffOptions = { initialMs: 200, maxMs: 2000, jitter: 0.2 };

export interface GovernedOptions extends RpcOptions {
  readonly priority: CallPriority;
}

export interface GovernedCallerDeps {
  readonly caller: RpcCaller;
  readonly budget: CallBudget;
  readonly semaphore: Semaphore;
  /** Resolves when calls can be made; rejects with a ProviderError when they cannot, or not soon. */
  readonly admit: (rpc: { readonly name: string; readonly isChange: boolean }, signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
}

/** Calls one after the other's turn: within the provider's limits, held back while it throttles, reads repeated while it is away. */
export class GovernedCaller {
  readonly #deps: GovernedCallerDeps;

  constructor(deps: GovernedCallerDeps) {
    this.#deps = deps;
  }

  async call<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: Request,
    options: GovernedOptions,
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
    options: GovernedOptions,
  ): Promise<Response> {
    const { caller, budget, semaphore, admit } = this.#deps;
    const { priority, signal } = options;
    if (rpc.quotaClass !== undefined) await budget.acquire(priority, rpc.quotaClass, signal);
    const leave = await semaphore.enter(priority, signal);
    try {
      await admit(rpc, signal);
      return await caller.unary(rpc, request, options);
    } catch (error) {
      if (rpc.quotaClass !== undefined && isOfClass(error, "WAIT")) {
        budget.hold(rpc.quotaClass, error.retryAfterMs ?? DEFAULT_HOLD_MS);
      }
      throw error;
    } finally {
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
function asGivenUp(error: unknown, name: string, { signal, requestId }: GovernedOptions): ProviderError {
  if (error instanceof ProviderError || !signal.aborted) return asProviderError(error);
  const message = `${name}: given up while waiting to be sent`;
  return new ProviderError({ code: "CANCELLED", message, requestId }, { cause: signal.reason });
}
