/** One answer and where in the recording it was asked for. */
export interface Place<Value> {
  readonly line: number;
  readonly value: Value;
}

/** Answers to equal questions, in their order. */
export class Answers<Value> {
  readonly #places: Place<Value>[] = [];
  #next = 0;

  add(place: Place<Value>): void {
    this.#places.push(place);
  }

  /** The one that comes next, unless it must not yet be given; then the last one again. */
  take(mayGive: (line: number) => boolean): Place<Value> | undefined {
    const last = this.#places[this.#next - 1];
    const next = this.#places[this.#next];
    if (next === undefined || (last !== undefined && !mayGive(next.line))) return last;
    this.#next++;
    return next;
  }
}

/**
 * How far a run has come in a recording: an answer is not given before the changes that had been made before it was asked for. So a read
 * that is made more often than then does not see what is not yet so. A change that was made later counts for those before it, for
 * no two runs make the same steps.
 */
export class Progress {
  readonly #changes: readonly number[];
  #line = 0;

  /** @param changes lines of the changes, ascending */
  constructor(changes: readonly number[]) {
    this.#changes = changes;
  }

  mayGive(line: number): boolean {
    return !this.#changes.some((change) => change > this.#line && change < line);
  }

  changed(line: number): void {
    this.#line = Math.max(this.#line, line);
  }
}
