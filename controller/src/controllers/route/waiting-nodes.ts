/** Nodes without route because the table is full or their range is taken: whatever is removed may be what they wait for. */
export class WaitingNodes {
  readonly #names = new Set<string>();
  readonly #wake: (name: string) => void;
  #removals = 0;

  constructor(wake: (name: string) => void) {
    this.#wake = wake;
  }

  /** How often something was removed so far. */
  get removals(): number {
    return this.#removals;
  }

  /** @param since {@link removals} before the Node was tried: it may wait for what was removed meanwhile, and is woken at once */
  add(name: string, since: number): void {
    if (since === this.#removals) this.#names.add(name);
    else this.#wake(name);
  }

  delete(name: string): void {
    this.#names.delete(name);
  }

  /** Something was removed. */
  wakeAll(): void {
    this.#removals++;
    const names = [...this.#names];
    this.#names.clear();
    for (const name of names) this.#wake(name);
  }
}
