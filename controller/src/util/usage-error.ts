/** Something that only an operator can put right; shown as one line, without a stack. */
export class UsageError extends Error {
  readonly code = "USAGE";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "UsageError";
  }
}
