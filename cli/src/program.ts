import { basename } from "node:path";
import type { Connection } from "./client/connection.ts";
import { controllerConnection } from "./client/controller-connection.ts";
import { connectKube } from "./client/kubeconfig-api.ts";
import type { Call, Command } from "./commands/command.ts";
import { type Candidates, candidates, completionLines } from "./commands/completion/candidates.ts";
import { COMPLETE } from "./commands/completion/completion.ts";
import { CommandError, UsageError, errorLine } from "./errors.ts";
import { EXIT } from "./exit-codes.ts";
import { commandHelp, programHelp } from "./options/help.ts";
import { type Parsed, parseCommandLine } from "./options/parse.ts";
import { type Terminal, wantsColors } from "./terminal/terminal.ts";

/** The environment of the program. */
export interface ProgramDependencies {
  /** How it was called: `cloudwire`, or `kubectl cloudwire`. */
  readonly program: string;
  readonly commands: readonly Command[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** All of standard input. */
  readonly readInput: () => Promise<string>;
  readonly terminal: (hasColors: (isTerminal: boolean) => boolean) => Terminal;
  readonly signal: AbortSignal;
}

type Run = Extract<Parsed, { readonly kind: "run" }>;

/** A call with its resources. */
interface OpenCall extends AsyncDisposable {
  readonly call: Call;
}

/** Maximum time for completions. */
const COMPLETION_MS = 3000;

/** Runs a command line and returns the exit code. Errors that a user can fix are one line on standard error. */
export async function runProgram(args: readonly string[], dependencies: ProgramDependencies): Promise<number> {
  if (args[0] === COMPLETE) return complete(args.slice(args[1] === "--" ? 2 : 1), dependencies);
  const { program, commands, environment } = dependencies;
  const parsed = parseCommandLine(args, commands);
  const color = parsed.kind === "run" ? parsed.values.textOf("color") : "auto";
  const terminal = dependencies.terminal((isTerminal) => wantsColors(color, environment, isTerminal));
  switch (parsed.kind) {
    case "help": {
      const { command, topic } = parsed;
      const below = commands.filter(({ name }) => topic !== "" && name.startsWith(`${topic} `));
      const [only = command] = below.length === 1 ? below : [];
      if (only !== undefined) terminal.out(commandHelp(program, only, terminal.columns));
      else if (topic === "" || below.length > 0) terminal.out(programHelp(program, commands, terminal.columns));
      else return complain(program, terminal, [`unknown command ${topic}`]);
      return EXIT.ok;
    }
    case "invalid":
      return complain(program, terminal, parsed.problems, parsed.command);
    case "run":
      return run(parsed, dependencies, terminal);
    default:
      return parsed satisfies never;
  }
}

async function run(parsed: Run, dependencies: ProgramDependencies, terminal: Terminal): Promise<number> {
  const { program } = dependencies;
  const { command } = parsed;
  await using open = openCall(parsed, dependencies, terminal);
  try {
    return await command.run(open.call);
  } catch (error) {
    if (error instanceof UsageError) return complain(program, terminal, error.problems, command);
    // An interrupted command reports no error.
    if (!(error instanceof CommandError) || dependencies.signal.aborted) throw error;
    terminal.err(`${program}: ${errorLine(error)}\n`);
    return EXIT.failed;
  }
}

function openCall({ operands, values }: Run, dependencies: ProgramDependencies, terminal: Terminal): OpenCall {
  const { program, environment, signal, readInput } = dependencies;
  let connection: Promise<Connection> | undefined;
  const close = async (): Promise<void> => {
    const closing = connection;
    connection = undefined;
    // A failed connection was reported already.
    const made = await closing?.catch(() => undefined);
    await made?.close();
  };
  const kube = memo(() => connectKube({ values, environment, ending: signal }));
  // Standard input can be read only once.
  const input = memo(readInput);
  const call: Call = {
    program,
    operands,
    values,
    terminal,
    environment,
    signal,
    kube,
    forgetController: close,
    controller: () => (connection ??= controllerConnection({ values, kube, input, ending: signal })),
  };
  return { call, [Symbol.asyncDispose]: close };
}

/** Serves completion scripts. Never fails: the shell would print the error into the command line. */
async function complete(words: readonly string[], dependencies: ProgramDependencies): Promise<number> {
  const { commands } = dependencies;
  const terminal = dependencies.terminal(() => false);
  const silent: Terminal = { ...terminal, out: () => undefined, err: () => undefined, canAsk: false };
  const callOf = (before: readonly string[]): Call | undefined => {
    const parsed = parseCommandLine(before, commands);
    return parsed.kind === "run" ? openCall(parsed, dependencies, silent).call : undefined;
  };
  const none: Candidates = { words: [], paths: "none", goesOn: false };
  const late = new Promise<Candidates>((resolve) => {
    setTimeout(() => resolve(none), COMPLETION_MS).unref();
  });
  const found = await Promise.race([candidates(words, commands, callOf).catch(() => none), late]);
  terminal.out(completionLines(found));
  return EXIT.ok;
}

function complain(program: string, terminal: Terminal, problems: readonly string[], command?: Command): number {
  for (const problem of problems) terminal.err(`${program}: ${problem}\n`);
  terminal.err(`See ${program}${command === undefined ? "" : ` ${command.name}`} --help\n`);
  return EXIT.usage;
}

function memo<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => (made ??= make());
}

/** The name and the arguments of the program. */
export interface Calling {
  /** `cloudwire`, or `kubectl cloudwire`. */
  readonly program: string;
  readonly args: readonly string[];
}

/**
 * By the name of the link that was run: kubectl runs `kubectl-cloudwire` from PATH for `kubectl cloudwire`, and
 * `kubectl_complete-cloudwire` for its completion (KEP-2229).
 */
export function callingOf(path: string, args: readonly string[]): Calling {
  switch (basename(path).replace(/\.m?[jt]s$/, "")) {
    case "kubectl-cloudwire":
      return { program: "kubectl cloudwire", args };
    case "kubectl_complete-cloudwire":
      return { program: "kubectl cloudwire", args: [COMPLETE, "--", ...args] };
    default:
      return { program: "cloudwire", args };
  }
}
