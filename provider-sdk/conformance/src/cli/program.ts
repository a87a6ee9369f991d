import { rm, writeFile } from "node:fs/promises";
import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { errorText } from "../check/error-text.ts";
import { UsageError } from "../check/usage-error.ts";
import { allChecks } from "../checks/registry.ts";
import { cleanUpAfter, namedLedger } from "../commands/cleanup.ts";
import { explanation } from "../commands/explain.ts";
import { initialConfig } from "../commands/init.ts";
import { reportCommand } from "../commands/report.ts";
import { outcomeLines, selftest, selftestSummary } from "../commands/selftest.ts";
import type { LedgerEntry } from "../contract/ledger.ts";
import { undoAll } from "../hooks/undo-all.ts";
import { planConformance } from "../run-conformance.ts";
import { matchesAny, parsePattern } from "../runner/patterns.ts";
import { mutants } from "../selftest/mutants.ts";
import { NotReadyError, reach } from "../target/reach.ts";
import type { Endpoint } from "../wire/endpoint.ts";
import { type Arguments, commands, helpText, parseArguments } from "./arguments.ts";
import { readConfig } from "./config.ts";
import { withPatternFiles } from "./pattern-files.ts";
import { whyText } from "./plan-text.ts";
import { exitCodes, type ProgramDeps } from "./program-deps.ts";
import { leftLines, optionsOf, run } from "./run.ts";
import { withTarget } from "./target.ts";
import { inspection, listing } from "./texts.ts";

/** Runs a command line and answers the exit code. Mistakes of the user are one line. */
export const program = async (argv: readonly string[], deps: ProgramDeps): Promise<number> => {
  try {
    const args = await withPatternFiles(parseArguments(argv, deps.random));
    if (args.help || args.command === "help") deps.out(helpText());
    else return await command(args, deps);
    return exitCodes.passed;
  } catch (error) {
    if (error instanceof UsageError) deps.err(`cloudwire-conformance: ${error.message}\n`);
    else if (error instanceof NotReadyError) deps.err(`cloudwire-conformance: ${error.message}\n`);
    else throw error;
    return error instanceof UsageError ? exitCodes.usage : exitCodes.notReady;
  }
};

const command = async (args: Arguments, deps: ProgramDeps): Promise<number> => {
  switch (args.command) {
    case "run":
      return withTarget(args, deps, (target) => run(args, target, deps));
    case "inspect":
      return withInfo(args, deps, (info) => deps.out(inspection(info)));
    case "init":
      return withInfo(args, deps, (info) => written(args, initialConfig(info), deps));
    case "selftest":
      return withTarget(args, deps, ({ endpoint }) => runSelftest(args, endpoint, deps));
    case "cleanup": {
      const { path, entries } = namedLedger(args.words);
      if (!(await undone(path, entries, args, deps))) return exitCodes.notClean;
      // Without objects at the cloud nobody needs the provider, which may not get ready while the cloud is broken.
      if (entries.every(({ kind }) => kind === "hook")) return cleaned(path, entries, deps);
      return withTarget(args, deps, ({ parsed }) => cleanup(path, entries, parsed, args, deps));
    }
    case "report": {
      const { words, format = "json", output } = args;
      const { out } = deps;
      return (await reportCommand({ words, format, output, out })) ? exitCodes.passed : exitCodes.failed;
    }
    case "list":
      return args.why ? why(args, deps) : told(deps, listing(chosen(args)));
    case "explain":
      return told(deps, explanation(checkOf(args)));
    case "":
      throw new UsageError(`what to do? ${commandNames}; --help says more`);
    default:
      throw new UsageError(`there is no command ${args.command}; there are ${commandNames}`);
  }
};

/** Which checks a run with the same options would do, and why not the others. */
const why = (args: Arguments, deps: ProgramDeps): Promise<number> =>
  withTarget(args, deps, async (target) => {
    const { planned } = await planConformance(optionsOf(args, target, await readConfig(args.config), deps));
    return told(deps, whyText(planned));
  });

const runSelftest = async (args: Arguments, endpoint: string, deps: ProgramDeps): Promise<number> => {
  const { signal } = deps;
  const ids = allChecks.map(({ id }) => id);
  const outcomes = await selftest({
    ...args,
    mutants,
    checks: args.run.map((text) => parsePattern(text, ids)),
    endpoint,
    fixtures: await readConfig(args.config),
    signal,
    onOutcome: (outcome) => deps.out(outcomeLines(outcome)),
  });
  deps.out(selftestSummary(outcomes));
  return outcomes.some(({ kind }) => kind === "differs") ? exitCodes.failed : exitCodes.passed;
};

/** Whether all that actions have done to the cloud is undone: first of all, for without the cloud nothing else can be. */
const undone = async (
  path: string,
  entries: readonly LedgerEntry[],
  { config }: Arguments,
  deps: ProgramDeps,
): Promise<boolean> => {
  const left = await undoAll(entries, (await readConfig(config)).hooks ?? {});
  if (left.length > 0) deps.err(leftLines(left, `${path} --config <the run's configuration>`));
  return left.length === 0;
};

const cleaned = async (path: string, { length }: readonly LedgerEntry[], deps: ProgramDeps): Promise<number> => {
  await rm(path);
  deps.out(`nothing is left of the ${length} things in ${path}, which is removed, too\n`);
  return exitCodes.passed;
};

const cleanUpMs = 300_000;

const cleanup = async (
  path: string,
  entries: readonly LedgerEntry[],
  endpoint: Endpoint,
  { startTimeoutMs, slowFactor }: Arguments,
  deps: ProgramDeps,
): Promise<number> => {
  const info = await reach(endpoint, startTimeoutMs, deps.signal);
  const patience = AbortSignal.any([deps.signal, AbortSignal.timeout(cleanUpMs * slowFactor)]);
  const left = await cleanUpAfter(entries, endpoint, info, patience);
  if (left.length > 0) {
    deps.err(leftLines(left, path));
    return exitCodes.notClean;
  }
  return cleaned(path, entries, deps);
};

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
