/** A mistake of whoever runs the kit: told in one line, exit code 2. */
export class UsageError extends Error {
  readonly code = "USAGE";
  override readonly name = "UsageError";
}
