import type { Clock } from "../../util/clock.ts";
import { Lru } from "../../util/lru.ts";

interface Entry<Value> {
  readonly value: Value;
  readonly untilMs: number;
}

/** Answers that are good for a while; at most `capacity`, and asked for once however many ask at the same time. */
export class ExpiringCache<Value> {
  readonly #clock: Clock;
  readonly #entries: Lru<string, Entry<Value>>;
  readonly #asking = new Map<string, Promise<Value>>();
  readonly #lifeMs: (value: Value) => number;

  constructor(capacity: number, lifeMs: (value: Value) => number, clock: Clock) {
    this.#clock = clock;
    this.#entries = new Lru(capacity);
    this.#lifeMs = lifeMs;
  }

  /** The kept answer, or what `ask` answers. A failure is not kept. */
  async get(key: string, ask: () => Promise<Value>): Promise<Value> {
    const kept = this.#entries.get(key);
    if (kept !== undefined && this.#clock.monotonicMs() < kept.untilMs) return kept.value;
    const asking = this.#asking.get(key) ?? this.#ask(key, ask);
    return asking;
  }

  #ask(key: string, ask: () => Promise<Value>): Promise<Value> {
    const asking = ask()
      .then((value) => {
        this.#entries.set(key, { value, untilMs: this.#clock.monotonicMs() + this.#lifeMs(value) });
        return value;
      })
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }
}
