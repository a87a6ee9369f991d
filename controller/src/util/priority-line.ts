/** What creates, deletes or initialises is urgent and goes before what merely refreshes, in queues and in calls. */
export type Priority = "high" | "low";

/** So many urgent ones in a row, then one that is not, if one waits: a storm must not starve the others for ever. */
export const HIGH_IN_A_ROW = 4;

/** Those who wait for something: by priority, then in the order of coming. */
export class PriorityLine<Waiter> {
  readonly #waiting: Readonly<Record<Priority, Set<Waiter>>> = { high: new Set(), low: new Set() };
  #highInARow = 0;

  get size(): number {
    return this.#waiting.high.size + this.#waiting.low.size;
  }

  count(priority: Priority): number {
    return this.#waiting[priority].size;
  }

  /** How many go before one that comes now, if nobody comes after it. */
  ahead(priority: Priority): number {
    const { high, low } = this.#waiting;
    return priority === "high"
      ? high.size + Math.min(low.size, Math.ceil((high.size + 1) / HIGH_IN_A_ROW))
      : low.size + Math.min(high.size, (low.size + 1) * HIGH_IN_A_ROW);
  }

  add(priority: Priority, waiter: Waiter): void {
    this.#waiting[priority].add(waiter);
  }

  remove(priority: Priority, waiter: Waiter): void {
    this.#waiting[priority].delete(waiter);
  }

  /** The next, who waits no longer. */
  take(): Waiter | undefined {
    const { high, low } = this.#waiting;
    const isLowDue = low.size > 0 && (high.size === 0 || this.#highInARow >= HIGH_IN_A_ROW);
    this.#highInARow = isLowDue || low.size === 0 ? 0 : this.#highInARow + 1;
    const line = isLowDue ? low : high;
    const [next] = line;
    if (next !== undefined) line.delete(next);
    return next;
  }
}
