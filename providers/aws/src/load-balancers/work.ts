import type { ChangeContext, PlannedChange } from "@cloudwire/provider-sdk";

/** Carries changes out, or only tells of them where nothing may be changed. */
export class Work {
  readonly context: ChangeContext;

  constructor(context: ChangeContext) {
    this.context = context;
  }

  /** Undefined: it was only told of. */
  async change<Result>(planned: PlannedChange, act: () => Promise<Result>): Promise<Result | undefined> {
    if (this.context.validateOnly) {
      this.context.plan(planned);
      return undefined;
    }
    return act();
  }
}
