/** Nodes without route because the table is full or their range is taken: whatever is removed may be what they wait for. */
export class WaitingNodes {
  readonly #names = new Set<string>();
  readonly #wake: (name: string) => void;

  constructor(wake: (name: string) => void) {
    this.#wake = wake;
  }

  add(name: string): void {
    this.#names.add(name);
  }

  delete(name: string): void {
    this.#names.delete(name);
  }

  /** Something was removed. */
  wakeAll(): void {
    const names = [...this.#names];
    this.#names.clear();
    for (const name of names) this.#wake(name);
  }
}
