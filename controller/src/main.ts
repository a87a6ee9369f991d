// First: an unsupported Node version is reported before anything else is loaded.
import "@cloudwire/node-guard";
import { CONTROLLER_ALIASES } from "./api/controller-names.ts";
import { CONTROLLER_NAMES } from "./app/controllers.ts";
import { parseAgain, parseCommand, TABLE } from "./app/options.ts";
import { main, printError, PROGRAM, readText } from "./app/process.ts";
import { EXIT, readVersion } from "./app/shutdown.ts";
import { bashCompletion } from "./options/completion.ts";
import { helpText } from "./options/help.ts";

const USAGE = [
  `Usage: ${PROGRAM} --provider NAME=ADDRESS [flags]`,
  "Runs the Kubernetes cloud controllers with provider sidecars (unix:// or tcp://).",
] as const;

process.exit(await command(process.argv.slice(2)));

/** Returns the exit code. */
async function command(args: readonly string[]): Promise<number> {
  const known = new Set([
    ...CONTROLLER_NAMES,
    ...Object.keys(CONTROLLER_ALIASES).filter((alias) => CONTROLLER_NAMES.has(CONTROLLER_ALIASES[alias] ?? "")),
  ]);
  const sources = { args, environment: process.env, readText };
  const parsed = parseCommand(sources, known);
  switch (parsed.kind) {
    case "help":
      process.stdout.write(helpText(TABLE, USAGE));
      return EXIT.ok;
    case "version":
      process.stdout.write(`${PROGRAM} ${readVersion()}\n`);
      return EXIT.ok;
    case "completion":
      process.stdout.write(bashCompletion(PROGRAM, TABLE, { controllers: [...known] }));
      return EXIT.ok;
    case "invalid":
      for (const { where, what } of parsed.problems) printError(`${where}: ${what}`);
      return EXIT.usage;
    case "run":
      return main(parsed, (text) => parseAgain(sources, text, known));
    default:
      return parsed satisfies never;
  }
}
