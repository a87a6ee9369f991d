/** A mistake of the kit's user: reported in one line, exit code 2. */
export class UsageError extends Error {
  readonly code = "USAGE";
  override readonly name = "UsageError";
}

/** What an error says, whatever was thrown. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));
