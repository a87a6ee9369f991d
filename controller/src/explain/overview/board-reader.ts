import type { ObjectRef } from "@cloudwire/operator-api";

/** What a reader asks of the rows of all objects. */
export interface ReadableRows {
  refs(): Iterable<ObjectRef>;
  /** undefined: it is gone. */
  row(object: ObjectRef): { readonly json: string } | undefined;
}

/** What one reader has not been told yet: names only, so that one who is slow costs no more than there are objects. */
export class BoardReader {
  readonly #board: ReadableRows;
  readonly #pending = new Set<ObjectRef>();
  #isBegun = false;
  readonly wake: () => void;
  readonly close: () => void;

  constructor(board: ReadableRows, wake: () => void, close: () => void) {
    this.#board = board;
    this.wake = wake;
    this.close = close;
  }

  /** Everything was made once, and there is something to tell. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** Everything is to be told. */
  begin(): void {
    this.#isBegun = true;
    for (const object of this.#board.refs()) this.#pending.add(object);
  }

  /** It stands otherwise than before, or is gone. */
  changed(object: ObjectRef): void {
    if (this.#isBegun) this.#pending.add(object);
  }

  /** The next ones as they are now, as JSON; undefined: all has been told. */
  take(limit: number): { readonly set: readonly string[]; readonly gone: readonly ObjectRef[] } | undefined {
    if (this.#pending.size === 0) return undefined;
    const set: string[] = [];
    const gone: ObjectRef[] = [];
    for (const object of this.#pending) {
      if (set.length + gone.length === limit) break;
      this.#pending.delete(object);
      const row = this.#board.row(object);
      if (row === undefined) gone.push(object);
      else set.push(row.json);
    }
    return { set, gone };
  }
}
