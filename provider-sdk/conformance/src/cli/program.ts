import { writeFile } from "node:fs/promises";
import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { errorText } from "../check/error-text.ts";
import { UsageError } from "../check/usage-error.ts";
import { allChecks } from "../checks/registry.ts";
import { initialConfig } from "../commands/init.ts";
import { reportCommand } from "../commands/report.ts";
import { planConformance, type RunPlan } from "../run-conformance.ts";
import { matchesAny, parsePattern } from "../runner/patterns.ts";
import { NotReadyError, reach } from "../target/reach.ts";
import { type Arguments, commands, helpText, parseArguments } from "./arguments.ts";
import { runCleanup } from "./cleanup.ts";
import { readConfig } from "./config.ts";
import { withPatternFiles } from "./pattern-files.ts";
import { whyText } from "./plan-text.ts";
import { exitCodes, type ProgramDeps, stoppedCode } from "./program-deps.ts";
import { optionsOf, run } from "./run.ts";
import { withTarget } from "./target.ts";
import { inspection, listing } from "./texts.ts";

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

/** What each command does. */
const handlers: Readonly<Record<keyof typeof commands, (args: Arguments, deps: ProgramDeps) => Promise<number>>> = {
  run: (args, deps) => withTarget(args, deps, (target) => run(args, target, deps)),
  list: async (args, deps) =>
    args.why ? withPlan(args, deps, ({ planned }) => whyText(planned)) : told(deps, listing(chosen(args))),
  explain: async (args, deps) => {
    const check = checkOf(args);
    // Its causes are the faults of the selftest, which comes with a whole provider.
    const { explanation } = await import("../commands/explain.ts");
    return told(deps, explanation(check));
  },
  inspect: (args, deps) => withPlan(args, deps, ({ info, planned }) => inspection(info, planned)),
  init: (args, deps) => withInfo(args, deps, (info) => written(args, initialConfig(info), deps)),
  selftest: async (args, deps) => (await import("./selftest.ts")).runSelftest(args, deps),
  "serve-fake": async (args, deps) => (await import("./selftest.ts")).runServeFake(args, deps),
  cleanup: runCleanup,
  report: async ({ words, format = "json", output }, { out }) =>
    (await reportCommand({ words, format, output, out })) ? exitCodes.passed : exitCodes.failed,
};

const command = async (args: Arguments, deps: ProgramDeps): Promise<number> => {
  if (args.command === "") throw new UsageError(`what to do? ${commandNames}; --help says more`);
  let name: keyof typeof commands;
  for (name in handlers) if (name === args.command) return handlers[name](args, deps);
  throw new UsageError(`there is no command ${args.command}; there are ${commandNames}`);
};

/** Tells something of what a run with the same options would do. */
const withPlan = (args: Arguments, deps: ProgramDeps, text: (plan: RunPlan) => string): Promise<number> =>
  withTarget(args, deps, async (target) =>
    told(deps, text(await planConformance(optionsOf(args, target, await readConfig(args.config), deps)))),
  );

const commandNames = Object.keys(commands).join(", ");

const told = (deps: ProgramDeps, text: string): number => {
  deps.out(text);
  return exitCodes.passed;
};

/** What a provider says of itself, for commands that ask nothing more. */
const withInfo = (
  args: Arguments,
  deps: ProgramDeps,
  use: (info: GetProviderInfoResponse) => void | Promise<void>,
): Promise<number> =>
  withTarget(args, deps, async ({ parsed }) => {
    await use(await reach(parsed, args.startTimeoutMs, deps.signal));
    return exitCodes.passed;
  });

const chosen = (args: Arguments) => {
  const ids = allChecks.map(({ id }) => id);
  const wantedIds = args.run.map((text) => parsePattern(text, ids));
  return allChecks.filter(
    ({ id, profile }) =>
      (wantedIds.length === 0 || matchesAny(wantedIds, id)) &&
      (args.profiles.length === 0 || args.profiles.includes(profile)),
  );
};

const checkOf = ({ words: [id = ""] }: Arguments) => {
  const check = allChecks.find((candidate) => candidate.id === id);
  if (check === undefined) throw new UsageError(`there is no check "${id}"; see: cloudwire-conformance list`);
  return check;
};

/** Writes to --output, but never over what is there; else to standard output. */
const written = async ({ output }: Arguments, text: string, deps: ProgramDeps): Promise<void> => {
  if (output === undefined) return deps.out(text);
  await writeFile(output, text, { flag: "wx" }).catch((error: unknown) => {
    throw new UsageError(`${output} cannot be written: ${errorText(error)}`);
  });
};
