import type { ErrorCode } from "./error-codes.ts";

/** An error that the user can fix. The message has the attempt, the failure and the fix. Shown without a stack. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Has all problems of the command line. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super("INVALID_COMMAND_LINE", problems.join("; "));
    this.problems = problems;
  }
}

/** For standard error: the message and the code. */
export function errorLine({ message, code }: CommandError): string {
  return `${message} [${code}]`;
}

export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
