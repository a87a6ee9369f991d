import { sleep } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import type { CallPriority } from "./client.ts";
import { contractError } from "./errors.ts";

/** Calls that a cloud throttles together. */
export type QuotaClass = "instances" | "loadBalancers" | "routes" | "volumes";

/** Decides when a call may be made, so that one throttled loop holds back all of its kind. */
export interface CallBudget {
  /** Resolves when a call of that class may be made; rejects with a WAIT error that says when to come back, or with the signal's reason. */
  acquire(priority: CallPriority, quotaClass: QuotaClass, signal: AbortSignal): Promise<void>;
  /** The provider said to wait: no call of the class for that long. A shorter hold never ends a longer one. */
  hold(quotaClass: QuotaClass, holdMs: number): void;
}

/** Longest wait inside `acquire`. Beyond it the caller is better off doing something else and coming back. */
const MAX_WAIT_MS = 5000;

/** Longest hold believed: a provider that asks for more is asked again by then. */
const MAX_HOLD_MS = 600_000;

/** A budget without numbers of its own: everything may go until the provider says wait. */
export class HoldBudget implements CallBudget {
  readonly #provider: string;
  readonly #clock: Clock;
  readonly #heldUntilMs = new Map<QuotaClass, number>();

  constructor(provider: string, clock: Clock) {
    this.#provider = provider;
    this.#clock = clock;
  }

  async acquire(_priority: CallPriority, quotaClass: QuotaClass, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    for (let leftMs = this.#leftMs(quotaClass); leftMs > 0; leftMs = this.#leftMs(quotaClass)) {
      if (leftMs > MAX_WAIT_MS) {
        const message = `${this.#provider}: calls for ${quotaClass} are on hold for another ${Math.ceil(leftMs / 1000)} s because the cloud throttles`;
        throw contractError("RATE_LIMITED", message, { retryAfterMs: leftMs });
      }
      await sleep(leftMs, signal, this.#clock);
    }
  }

  hold(quotaClass: QuotaClass, holdMs: number): void {
    const untilMs = this.#clock.monotonicMs() + Math.min(MAX_HOLD_MS, Math.max(0, holdMs));
    this.#heldUntilMs.set(quotaClass, Math.max(untilMs, this.#heldUntilMs.get(quotaClass) ?? 0));
  }

  #leftMs(quotaClass: QuotaClass): number {
    return (this.#heldUntilMs.get(quotaClass) ?? 0) - this.#clock.monotonicMs();
  }
}
