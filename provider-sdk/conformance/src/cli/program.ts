import { UsageError } from "../errors.ts";
import { NotReadyError } from "../endpoint/reach.ts";
import { type Arguments, commands, helpText, parseArguments } from "./arguments.ts";
import { withPatternFiles } from "./pattern-files.ts";
import { exitCodes, type ProgramDeps, stoppedCode } from "./program-deps.ts";

/** Runs a command line and answers the exit code. Mistakes of the user are one line. */
export const program = async (argv: readonly string[], deps: ProgramDeps): Promise<number> => {
  try {
    const args = await withPatternFiles(parseArguments(argv, deps.random));
    if (args.help || args.command === "help") deps.out(helpText());
    else {
      const code = await command(args, deps);
      return code === exitCodes.notClean ? code : (stoppedCode(deps) ?? code);
    }
    return exitCodes.passed;
  } catch (error) {
    const stopped = stoppedCode(deps);
    if (stopped !== undefined) return stopped;
    if (error instanceof UsageError) deps.err(`cloudwire-conformance: ${error.message}\n`);
    else if (error instanceof NotReadyError) deps.err(`cloudwire-conformance: ${error.message}\n`);
    else throw error;
    return error instanceof UsageError ? exitCodes.usage : exitCodes.notReady;
  }
};

const command = async (args: Arguments, deps: ProgramDeps): Promise<number> => {
  if (args.command === "") throw new UsageError(`what to do? ${commandNames}; --help says more`);
  // A selftest starts hundreds of faulty providers: they load no more than they need.
  if (args.command === "serve-fake") return (await import("../commands/serve-fake.ts")).runServeFake(args, deps);
  const { handlers } = await import("../commands/handlers.ts");
  let name: keyof typeof handlers;
  for (name in handlers) if (name === args.command) return handlers[name](args, deps);
  throw new UsageError(`there is no command ${args.command}; there are ${commandNames}`);
};

const commandNames = Object.keys(commands).join(", ");
