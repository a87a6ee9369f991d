import "@cloudwire/node-guard";
import { exitCodes, StopRequest, stopSignals } from "./cli/program-deps.ts";
import { program } from "./cli/program.ts";

/** Terminals, npm and other wrappers send one request to end twice. */
const sameRequestMs = 500;

const err = (text: string): void => void process.stderr.write(text);

/** The first request ends the program in order, the next at once. */
const endOnSignals = (words: () => string): AbortSignal => {
  const stop = new AbortController();
  let askedAtMs: number | undefined;
  const end = (name: keyof typeof stopSignals): void => {
    const request = new StopRequest(name);
    if (askedAtMs === undefined) {
      askedAtMs = performance.now();
      const first = words() === "" ? "" : "what was made is removed first, ";
      err(`cloudwire-conformance: ${request.message}; ${first}a second time ends at once\n`);
      stop.abort(request);
      return;
    }
    if (performance.now() - askedAtMs < sameRequestMs) return;
    err(`cloudwire-conformance: ended at once\n${words()}`);
    process.exit(request.exitCode);
  };
  let name: keyof typeof stopSignals;
  for (name in stopSignals) process.on(name, end);
  return stop.signal;
};

/** No `await` outside: the executable is made of one CommonJS file, which has none. */
const main = async (): Promise<void> => {
  let words = (): string => "";
  const signal = endOnSignals(() => words());
  try {
    process.exitCode = await program(process.argv.slice(2), {
      out: (text) => void process.stdout.write(text),
      err,
      terminal: process.stderr.isTTY,
      columns: process.stderr.columns,
      random: Math.random,
      signal,
      lastWords: (given) => (words = given),
    });
  } catch (error) {
    const broken = error instanceof Error ? error.stack : String(error);
    err(`cloudwire-conformance: internal error of the kit (please report it): ${broken}\n`);
    process.exitCode = exitCodes.kitBroke;
  }
};

void main();
