import { isObserved, type Modes, modesOf, type ModeOptions, observesAll, observesAny } from "./mode.ts";
import { Plans, type PlansDependencies } from "./plans.ts";
import { currentWork, type Work } from "./work.ts";

/** Some code would write without being part of a reconcile while something is observed: a fault of this program. */
export class UntrackedWriteError extends TypeError {
  readonly code = "UNTRACKED_WRITE";

  constructor(what: string) {
    super(`${what} was refused: it is part of no reconcile, so it cannot be told whether it may be done (--mode)`);
    this.name = "UntrackedWriteError";
  }
}

/** The one place that decides whether a write is made or only planned. */
export class WriteFilter {
  readonly #modes: Modes;

  constructor(modes: Modes) {
    this.#modes = modes;
  }

  /** Nothing is ever written. */
  get isReadOnly(): boolean {
    return observesAll(this.#modes);
  }

  /**
   * The work under way if its writes are only planned; undefined: they are to be made.
   * @param what the write, for a message
   * @param provider whose cloud is to be changed. @default the owner of what is worked on
   */
  planner(what: string, provider?: string): Work | undefined {
    const work = currentWork();
    if (work === undefined) throw new UntrackedWriteError(what);
    return isObserved(this.#modes, work.controller, provider ?? work.provider) ? work : undefined;
  }

  /** Whether what is said about objects now is kept back. Elections and the like speak for themselves. */
  get isSilent(): boolean {
    const work = currentWork();
    return work === undefined ? this.isReadOnly : isObserved(this.#modes, work.controller, work.provider);
  }
}

/** What there is where something only plans, all or in part. */
export interface Observing {
  readonly filter: WriteFilter;
  readonly plans: Plans;
}

/** undefined: everything that is planned is done. */
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
