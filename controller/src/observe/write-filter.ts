import { isObserved, type Modes, modesOf, type ModeOptions, observesAll, observesAny } from "./mode.ts";
import { Plans, type PlansDependencies } from "./plans.ts";
import { currentWork, type Work } from "./work.ts";

/** A write outside of a reconcile while something is observed: an internal error. */
export class UntrackedWriteError extends TypeError {
  readonly code = "UNTRACKED_WRITE";

  constructor(what: string) {
    super(`${what} was rejected: outside of a reconcile its mode is unknown (--mode)`);
    this.name = "UntrackedWriteError";
  }
}

/** Decides whether a write is made or only planned. */
export class WriteFilter {
  readonly #modes: Modes;

  constructor(modes: Modes) {
    this.#modes = modes;
  }

  get isReadOnly(): boolean {
    return observesAll(this.#modes);
  }

  /**
   * The current work if its writes are only planned; undefined: they are made.
   * @param what the write, for a message
   * @param provider whose cloud is changed. @default the owner of the key
   */
  planner(what: string, provider?: string): Work | undefined {
    const work = currentWork();
    if (work === undefined) throw new UntrackedWriteError(what);
    return isObserved(this.#modes, work.controller, provider ?? work.provider) ? work : undefined;
  }

  /** Whether events are suppressed. Leader election is not affected. */
  get isSilent(): boolean {
    const work = currentWork();
    return work === undefined ? this.isReadOnly : isObserved(this.#modes, work.controller, work.provider);
  }
}

export interface Observing {
  readonly filter: WriteFilter;
  readonly plans: Plans;
}

export function observing({
  options,
  ...dependencies
}: PlansDependencies & { readonly options: ModeOptions }): Observing | undefined {
  const modes = modesOf(options);
  if (!observesAny(modes)) return undefined;
  const extent = observesAll(modes) ? "all of this process, which takes no part in leader election" : "in part";
  dependencies.log.info("Observe mode: writes are planned and reported, but not made", { extent });
  return { filter: new WriteFilter(modes), plans: new Plans(dependencies) };
}
