import { orAborted } from "../util/clock.ts";

/** A result, and when the read began. */
export type TimedRead<Value extends object> = Value & {
  /** When the read began. Later changes may be missing from the result. */
  readonly readTime: Date;
};

/** Options of {@link SharedRead.getIfCheaper}. */
export interface IfCheaperOptions {
  /** Requests to the cloud that the read would save. */
  readonly savedRequests: number;
  /** Requests that the read itself needs. A cached result counts as 0, a read in progress as 1. */
  readonly neededRequests: number;
  /** Maximum age of the result in milliseconds, as in {@link SharedRead.get}. */
  readonly maxAgeMs: number;
}

/**
 * Shares one large read of the cloud, such as a list of all machines, between calls. A call that arrives during a read waits for it; a later
 * call gets the same result while it is recent enough. The read is aborted with the call that started it; the calls that wait then share
 * one new read. `read` must return an object, not an array.
 */
export class SharedRead<Value extends object, CallScope extends { readonly signal: AbortSignal }> {
  readonly #read: (callScope: CallScope) => Promise<Value>;
  readonly #nowMs: () => number;
  /** With the signal of the call that it ends with. */
  #underWay: { readonly outcome: Promise<TimedRead<Value>>; readonly signal: AbortSignal } | undefined;
  #last: TimedRead<Value> | undefined;

  /** `read` gets the context of the call that starts it. `nowMs` is for tests. Default: the system clock. */
  constructor(read: (callScope: CallScope) => Promise<Value>, nowMs: () => number = Date.now) {
    this.#read = read;
    this.#nowMs = nowMs;
  }

  /** Returns a result whose read began at most `maxAgeMs` milliseconds ago; 0 forces a new read. @throws what `read` throws, and when the call is aborted */
  async get(maxAgeMs: number, callScope: CallScope): Promise<TimedRead<Value>> {
    const fresh = this.#fresh(maxAgeMs);
    if (fresh) return fresh;
    const { signal } = callScope;
    const earlier = this.#underWay;
    if (earlier) {
      await orAborted(
        earlier.outcome.catch(() => undefined),
        signal,
      );
      const shown = this.#fresh(maxAgeMs);
      if (shown) return shown;
    }
    for (;;) {
      signal.throwIfAborted();
      // A read that began after this call is new enough for any maxAgeMs.
      const since = this.#underWay ?? this.#begin(callScope);
      try {
        return await orAborted(since.outcome, signal);
      } catch (error) {
        // The call that started the read was aborted, which is no failure of the cloud.
        if (signal.aborted || !since.signal.aborted) throw error;
      }
    }
  }

  /** Like {@link SharedRead.get}, if that needs fewer requests than it saves. Undefined: it does not, and nothing was read. */
  async getIfCheaper(
    { savedRequests, neededRequests, maxAgeMs }: IfCheaperOptions,
    callScope: CallScope,
  ): Promise<TimedRead<Value> | undefined> {
    const fresh = this.#fresh(maxAgeMs);
    if (fresh) return fresh;
    const isUnderWay = this.#underWay !== undefined && maxAgeMs > 0;
    return (isUnderWay ? 1 : neededRequests) < savedRequests ? this.get(maxAgeMs, callScope) : undefined;
  }

  #fresh(maxAgeMs: number): TimedRead<Value> | undefined {
    const last = this.#last;
    return last && maxAgeMs > 0 && this.#nowMs() - last.readTime.getTime() <= maxAgeMs ? last : undefined;
  }

  #begin(callScope: CallScope) {
    const outcome = this.#readTimed(callScope).finally(() => {
      this.#underWay = undefined;
    });
    const begun = { outcome, signal: callScope.signal };
    this.#underWay = begun;
    return begun;
  }

  async #readTimed(callScope: CallScope): Promise<TimedRead<Value>> {
    const readTime = new Date(this.#nowMs());
    this.#last = { ...(await orAborted(this.#read(callScope), callScope.signal)), readTime };
    return this.#last;
  }
}
