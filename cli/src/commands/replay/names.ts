/** Which recorded name and which live name mean the same thing, in each space of names: one to one. */
export class Names {
  readonly #live = new Map<string, unknown>();
  readonly #recorded = new Map<string, unknown>();

  /** What is called so in this run; undefined: it has not been seen. */
  live(space: string, recorded: unknown): unknown {
    return this.#live.get(key(space, recorded));
  }

  /** What the recording calls it; undefined: it has not been seen. */
  recorded(space: string, live: unknown): unknown {
    return this.#recorded.get(key(space, live));
  }

  /** Takes two for the same thing, from now on; false: one of them means something else already. */
  bind(space: string, recorded: unknown, live: unknown): boolean {
    const known = this.#live.get(key(space, recorded));
    const back = this.#recorded.get(key(space, live));
    if (known !== undefined || back !== undefined) return known === live && back === recorded;
    this.#live.set(key(space, recorded), live);
    this.#recorded.set(key(space, live), recorded);
    return true;
  }

  /** Replaces an earlier pair: a recreated object has a new name. */
  rebind(space: string, recorded: unknown, live: unknown): void {
    this.#live.set(key(space, recorded), live);
    this.#recorded.set(key(space, live), recorded);
  }

  /** A copy, to try something with. */
  fork(): Names {
    const copy = new Names();
    for (const [name, value] of this.#live) copy.#live.set(name, value);
    for (const [name, value] of this.#recorded) copy.#recorded.set(name, value);
    return copy;
  }
}

function key(space: string, name: unknown): string {
  return `${space}\n${JSON.stringify(name)}`;
}
