interface Count {
  readonly kind: string;
  readonly count: number;
}

/** Failures of one kind in a row, by key: the queue counts only those whose wait it chooses itself. */
export class FailureCounts {
  readonly #counts = new Map<string, Count>();

  /** One more; answers how many that makes. */
  failed(key: string, kind: string): number {
    const earlier = this.#counts.get(key);
    const count = earlier?.kind === kind ? earlier.count + 1 : 1;
    this.#counts.set(key, { kind, count });
    return count;
  }

  succeeded(key: string): void {
    this.#counts.delete(key);
  }
}
