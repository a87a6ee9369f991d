import type { ChangeContext, PlannedChange } from "@cloudwire/provider-sdk";

/** Carries changes out, or only tells of them where nothing may be changed. */
export class Work {
  readonly context: ChangeContext;
  #count = 0;

  constructor(context: ChangeContext) {
    this.context = context;
  }

  /** Changes that were carried out. */
  get count(): number {
    return this.#count;
  }

  /** Undefined: it was only told of. */
  async change<Result>(planned: PlannedChange, act: () => Promise<Result>): Promise<Result | undefined> {
    if (this.context.validateOnly) {
      this.context.plan(planned);
      return undefined;
    }
    this.#count += 1;
    return act();
  }
}
