import process from "node:process";

/** An error that the user can fix: printed as one line, without a stack. */
export class UserError extends Error {}

/** Runs a script's main function and sets the exit code: what it answers, or 2 for a fault of use. */
export async function failOnUserError(script: string, main: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await main();
  } catch (error) {
    if (!(error instanceof UserError) && !isBadArgument(error)) throw error;
    console.error(`${script}: ${error.message}`);
    process.exitCode = 2;
  }
}

/** util.parseArgs throws errors with these codes for what was typed. */
function isBadArgument(error: unknown): error is Error {
  return error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS_");
}
