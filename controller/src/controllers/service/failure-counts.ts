/** Failures in a row, by key: the queue counts only those whose wait it chooses itself. */
export class FailureCounts {
  readonly #counts = new Map<string, number>();

  /** One more; answers how many that makes. */
  failed(key: string): number {
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count;
  }

  succeeded(key: string): void {
    this.#counts.delete(key);
  }
}
