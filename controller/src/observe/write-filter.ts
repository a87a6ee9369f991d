import { isObserved, type Modes, observesAll } from "./mode.ts";
import { currentWork, type Work } from "./work.ts";

/** Some code would write without being part of a reconcile while something is observed: a fault of this program. */
export class UnaccountedWriteError extends TypeError {
  readonly code = "UNACCOUNTED_WRITE";

  constructor(what: string) {
    super(`${what} was refused: it is part of no reconcile, so it cannot be told whether it may be done (--mode)`);
    this.name = "UnaccountedWriteError";
  }
}

/** The one place that decides whether a write is made or only planned. */
export class WriteGate {
  readonly #modes: Modes;

  constructor(modes: Modes) {
    this.#modes = modes;
  }

  /** Nothing is ever written. */
  get isShut(): boolean {
    return observesAll(this.#modes);
  }

  /**
   * The work under way if its writes are only planned; undefined: they are to be made.
   * @param what the write, for a message
   * @param provider whose cloud is to be changed. @default the owner of what is worked on
   */
  planner(what: string, provider?: string): Work | undefined {
    const work = currentWork();
    if (work === undefined) throw new UnaccountedWriteError(what);
    return isObserved(this.#modes, work.controller, provider ?? work.provider) ? work : undefined;
  }

  /** Whether what is said about objects now is kept back. Elections and the like speak for themselves. */
  get silences(): boolean {
    const work = currentWork();
    return work === undefined ? this.isShut : isObserved(this.#modes, work.controller, work.provider);
  }
}
