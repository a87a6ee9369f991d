import type { CallStats } from "@cloudwire/proto/cloudprovider/v1/common";
import { sleep } from "../util/abort.ts";
import { type BackoffOptions, backoffMs } from "../util/backoff.ts";
import type { Clock, Random } from "../util/clock.ts";
import type { Semaphore } from "../util/semaphore.ts";
import type { CallBudget } from "./call-budget.ts";
import type { CallPriority } from "./client.ts";
import { asProviderError, isOfClass, isProviderError, ProviderError } from "./errors.ts";
import type { Rpc } from "./rpcs.ts";
import type { RpcCaller, RpcOptions } from "./transport.ts";

/** Tries of a read and the waits between them. proto/README.md section 5, class T. */
const MAX_TRIES = 3;
const RETRY: BackoffOptions = { initialMs: 200, maxMs: 2000, jitter: 0.2 };

/** The provider was throttled, came through all the same and does not say for how long: its next calls wait a moment and then go slower. */
const THROTTLED_HOLD_MS = 1000;

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
    const { budget } = this.#deps;
    const { priority, signal } = options;
    const { quotaClass } = rpc;
    if (quotaClass === undefined) return this.#send(rpc, request, options, () => undefined);
    await budget.acquire(priority, quotaClass, signal);
    let cost = 0;
    try {
      return await this.#send(rpc, request, options, (stats) => {
        cost = Math.max(1, stats?.cloudCalls ?? 1);
        if (stats?.throttled === true) budget.hold(quotaClass, THROTTLED_HOLD_MS);
      });
    } catch (error) {
      if (isOfClass(error, "WAIT")) budget.hold(quotaClass, error.retryAfterMs);
      throw error;
    } finally {
      budget.settle(quotaClass, cost);
    }
  }

  /** `note` is called when the call is sent, and when its answer tells what it cost. */
  async #send<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: Request,
    options: GovernedOptions,
    note: (stats: CallStats | undefined) => void,
  ): Promise<Response> {
    const { caller, semaphore, admit } = this.#deps;
    const { priority, signal } = options;
    const leave = await semaphore.enter(priority, signal);
    try {
      await admit(rpc, signal);
      note(undefined);
      const response = await caller.unary(rpc, request, options);
      note(rpc.stats(response));
      return response;
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
