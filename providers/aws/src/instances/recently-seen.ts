/** EC2 returns a terminated instance for about an hour, so an earlier disappearance is not an absence. */
const suspiciousMs = 10 * 60_000;

/** Records when instances were last seen, so that a stale read is not an absence. */
export class RecentlySeen {
  readonly #nowMs: () => number;
  readonly #seenMs = new Map<string, number>();
  #sweepMs = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  see(instanceIds: Iterable<string>): void {
    const nowMs = this.#nowMs();
    for (const id of instanceIds) this.#seenMs.set(id, nowMs);
    if (nowMs < this.#sweepMs) return;
    this.#sweepMs = nowMs + suspiciousMs;
    for (const [id, seenMs] of this.#seenMs) if (nowMs - seenMs > suspiciousMs) this.#seenMs.delete(id);
  }

  /** True: it was alive a short time ago. */
  has(instanceId: string): boolean {
    const seenMs = this.#seenMs.get(instanceId);
    return seenMs !== undefined && this.#nowMs() - seenMs <= suspiciousMs;
  }
}
