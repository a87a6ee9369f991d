// First, so that an unsupported Node version fails before anything else is loaded.
import "@cloudwire/node-guard";
import { text } from "node:stream/consumers";
import { COMMANDS } from "./commands/commands.ts";
import { EXIT, EXIT_BY_SIGNAL } from "./exit-codes.ts";
import { processTerminal } from "./terminal/terminal.ts";
import { callingOf, runProgram } from "./program.ts";

const stop = new AbortController();
let stoppedCode: number | undefined;
for (const [name, exitCode] of Object.entries(EXIT_BY_SIGNAL)) {
  process.on(name, () => {
    // The second signal exits immediately.
    if (stop.signal.aborted) process.exit(exitCode);
    stoppedCode = exitCode;
    stop.abort(new Error(`stopped by ${name}`));
  });
}
// Without a reader, or after a write error, the rest is pointless.
process.stdout.on("error", (error) => stop.abort(error));
process.stderr.on("error", () => undefined);

const { program, args } = callingOf(process.argv[1] ?? "", process.argv.slice(2));
const exitCode = await main();
// Exits after the output is written, and does not wait for pending requests.
process.stdout.write("", () => process.exit(stoppedCode ?? unwrittenCode(process.stdout.errored) ?? exitCode));

/** A reader may close early (`cloudwire explain node/a | head -1`); this does not change the exit code. */
function unwrittenCode(error: Error | null): number | undefined {
  if (error === null || ("code" in error && error.code === "EPIPE")) return undefined;
  process.stderr.write(`${program}: could not write the output: ${error.message}\n`);
  return EXIT.failed;
}

async function main(): Promise<number> {
  try {
    return await runProgram(args, {
      program,
      commands: COMMANDS,
      environment: process.env,
      readInput: () => text(process.stdin),
      terminal: (hasColors) => processTerminal(process, hasColors),
      signal: stop.signal,
    });
  } catch (error) {
    if (stop.signal.aborted) return EXIT.failed;
    const detail = error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${program}: internal error (please report it): ${detail}\n`);
    return EXIT.internalError;
  }
}
