import { orAborted } from "../util/clock.ts";

/** What was read, and when the read began. */
export type TimedRead<Value extends object> = Value & {
  /** When the read began: what is told later may be missing from it. */
  readonly readTime: Date;
};

/** When {@link SharedRead.instead} reads. */
export interface InsteadOptions {
  /** Requests to the cloud that the read would save. */
  readonly saved: number;
  /** Requests that the read itself takes. One that is fresh takes none, one that is under way counts as one. */
  readonly taken: number;
  /** How old the read may be, in milliseconds, as in {@link SharedRead.get}. */
  readonly maxAgeMs: number;
}

/**
 * One large read of the cloud, such as a list of all machines, that calls share: whoever asks while it is under way waits for it, and whoever asks
 * later gets the same one for as long as it is not too old for them. It ends with the call that it was begun for; when it has failed, those who
 * waited for it share the one that the first of them begins. What `read` answers is an object, no array.
 */
export class SharedRead<Value extends object, Occasion extends { readonly signal: AbortSignal }> {
  readonly #read: (occasion: Occasion) => Promise<Value>;
  readonly #nowMs: () => number;
  /** With the signal of the call that it ends with. */
  #underWay: { readonly outcome: Promise<TimedRead<Value>>; readonly signal: AbortSignal } | undefined;
  #last: TimedRead<Value> | undefined;

  /** `read` gets the context of the call that it is made for. `nowMs` is for tests; default: the system's clock. */
  constructor(read: (occasion: Occasion) => Promise<Value>, nowMs: () => number = Date.now) {
    this.#read = read;
    this.#nowMs = nowMs;
  }

  /** A read that began at most `maxAgeMs` milliseconds ago; 0 asks for a new one. @throws what `read` throws, and when the call is aborted */
  async get(maxAgeMs: number, occasion: Occasion): Promise<TimedRead<Value>> {
    const fresh = this.#fresh(maxAgeMs);
    if (fresh) return fresh;
    const { signal } = occasion;
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
      // One that has begun since they asked is new to everybody.
      const since = this.#underWay ?? this.#begin(occasion);
      try {
        return await orAborted(since.outcome, signal);
      } catch (error) {
        // Cut off with another's call, it says nothing of the cloud.
        if (signal.aborted || !since.signal.aborted) throw error;
      }
    }
  }

  /** The same, if that takes fewer requests than it saves. Undefined: it does not, and nothing was read. */
  async instead({ saved, taken, maxAgeMs }: InsteadOptions, occasion: Occasion): Promise<TimedRead<Value> | undefined> {
    const fresh = this.#fresh(maxAgeMs);
    if (fresh) return fresh;
    const isUnderWay = this.#underWay !== undefined && maxAgeMs > 0;
    return (isUnderWay ? 1 : taken) < saved ? this.get(maxAgeMs, occasion) : undefined;
  }

  #fresh(maxAgeMs: number): TimedRead<Value> | undefined {
    const last = this.#last;
    return last && maxAgeMs > 0 && this.#nowMs() - last.readTime.getTime() <= maxAgeMs ? last : undefined;
  }

  #begin(occasion: Occasion) {
    const outcome = this.#readTimed(occasion).finally(() => {
      this.#underWay = undefined;
    });
    const begun = { outcome, signal: occasion.signal };
    this.#underWay = begun;
    return begun;
  }

  async #readTimed(occasion: Occasion): Promise<TimedRead<Value>> {
    const readTime = new Date(this.#nowMs());
    this.#last = { ...(await orAborted(this.#read(occasion), occasion.signal)), readTime };
    return this.#last;
  }
}
