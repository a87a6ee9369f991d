/** A map that forgets what was used longest ago when it is full, and what is older than its time. */
export class LruMap<Value> {
  readonly #maxEntries: number;
  readonly #maxAgeMs: number;
  readonly #nowMs: () => number;
  readonly #entries = new Map<string, { readonly value: Value; readonly addedMs: number }>();
  readonly #evicted: (value: Value) => void;

  constructor(options: {
    readonly maxEntries: number;
    readonly maxAgeMs?: number;
    readonly nowMs: () => number;
    /** Called with each value that is evicted rather than deleted. */
    readonly evicted?: (value: Value) => void;
  }) {
    this.#maxEntries = options.maxEntries;
    this.#maxAgeMs = options.maxAgeMs ?? Number.POSITIVE_INFINITY;
    this.#nowMs = options.nowMs;
    this.#evicted = options.evicted ?? (() => undefined);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The value, which now is the one used last. Its age counts from when it was set. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    if (this.#nowMs() - entry.addedMs > this.#maxAgeMs) {
      this.#evicted(entry.value);
      return undefined;
    }
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, addedMs: this.#nowMs() });
    this.#forgetOld();
  }

  delete(key: string): Value | undefined {
    const value = this.#entries.get(key)?.value;
    this.#entries.delete(key);
    return value;
  }

  /** Forgets everything. */
  clear(): void {
    const values = [...this.#entries.values()];
    this.#entries.clear();
    for (const { value } of values) this.#evicted(value);
  }

  #forgetOld(): void {
    for (const [key, { value, addedMs }] of this.#entries) {
      if (this.#entries.size <= this.#maxEntries && this.#nowMs() - addedMs <= this.#maxAgeMs) return;
      this.#entries.delete(key);
      this.#evicted(value);
    }
  }
}
