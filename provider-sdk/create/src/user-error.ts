/** What the user can mend: told in lines, without a stack. */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join("; "), options);
    this.problems = problems;
  }
}
