// First, so that the wrong Node is told so before anything else is loaded.
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
    // A second time ends at once.
    if (stop.signal.aborted) process.exit(exitCode);
    stoppedCode = exitCode;
    stop.abort(new Error(`stopped by ${name}`));
  });
}
// Nobody reads it, or it cannot be written: nothing goes on for that.
process.stdout.on("error", (error) => stop.abort(error));
process.stderr.on("error", () => undefined);

const { program, args } = callingOf(process.argv[1] ?? "", process.argv.slice(2));
const exitCode = await main();
// Not before what was written has gone out; a question that nobody waits for any more is no reason to stay.
process.stdout.write("", () => process.exit(stoppedCode ?? unwrittenCode(process.stdout.errored) ?? exitCode));

/** Whoever reads the output may have read enough (`cloudwire explain node/a | head -1`), and the exit code stays what it is. */
function unwrittenCode(error: Error | null): number | undefined {
  if (error === null || ("code" in error && error.code === "EPIPE")) return undefined;
  process.stderr.write(`${program}: the answer could not be written: ${error.message}\n`);
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
    const fault = error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${program}: a fault of this program: ${fault}\n`);
    return EXIT.fault;
  }
}
