import "@cloudwire/node-guard";
import { exitCodes } from "./program-deps.ts";
import { program } from "./program.ts";

/** No `await` outside: the executable is made of one CommonJS file, which has none. */
const main = async (): Promise<void> => {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort());
  try {
    process.exitCode = await program(process.argv.slice(2), {
      out: (text) => void process.stdout.write(text),
      err: (text) => void process.stderr.write(text),
      terminal: process.stderr.isTTY,
      columns: process.stderr.columns,
      random: Math.random,
      signal: stop.signal,
    });
  } catch (error) {
    process.stderr.write(
      stop.signal.aborted
        ? "cloudwire-conformance: stopped\n"
        : `cloudwire-conformance: the kit broke, which is its own fault: ${error instanceof Error ? error.stack : String(error)}\n`,
    );
    process.exitCode = stop.signal.aborted ? 130 : exitCodes.kitBroke;
  }
};

void main();
