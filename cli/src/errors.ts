/** An error that the user can fix. The message has the attempt, the failure and the fix. Shown without a stack. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}

/** The command line makes no sense. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("; "));
    this.problems = problems;
  }
}

export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
