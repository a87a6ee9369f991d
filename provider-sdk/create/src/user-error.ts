/** A problem that the user can fix: printed in lines, without a stack. */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join("; "), options);
    this.problems = problems;
  }
}
