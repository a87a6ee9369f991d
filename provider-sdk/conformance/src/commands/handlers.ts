import { writeFile } from "node:fs/promises";
import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { UsageError, errorText } from "../errors.ts";
import { allChecks } from "../checks/registry.ts";
import { initialConfig } from "./init.ts";
import { reportCommand } from "./report.ts";
import { planConformance, type RunPlan } from "../suite/run-conformance.ts";
import { reach } from "../endpoint/reach.ts";
import type { Arguments, commands } from "../cli/arguments.ts";
import { runCleanup } from "./cleanup.ts";
import { readConfig } from "../cli/config.ts";
import { inspection } from "./inspect.ts";
import { chosen, listing, whyText } from "./list.ts";
import { exitCodes, type ProgramDeps } from "../cli/program-deps.ts";
import { optionsOf, run } from "./run.ts";
import { withTarget } from "../cli/target.ts";

type Handler = (args: Arguments, deps: ProgramDeps) => Promise<number>;

/** What each command does but that which serves a provider. */
export const handlers: Readonly<Record<Exclude<keyof typeof commands, "serve-fake">, Handler>> = {
  run: (args, deps) => withTarget(args, deps, (target) => run(args, target, deps)),
  list: async (args, deps) =>
    args.why ? withPlan(args, deps, ({ planned }) => whyText(planned)) : reported(deps, listing(chosen(args))),
  explain: async (args, deps) => {
    const check = checkOf(args);
    // Its causes are the faults of the selftest, which comes with a whole provider.
    const { explanation } = await import("./explain.ts");
    return reported(deps, explanation(check));
  },
  inspect: (args, deps) => withPlan(args, deps, ({ info, planned }) => inspection(info, planned)),
  init: (args, deps) => withInfo(args, deps, (info) => written(args, initialConfig(info), deps)),
  selftest: async (args, deps) => (await import("./selftest.ts")).runSelftest(args, deps),
  cleanup: runCleanup,
  report: async ({ words, format = "json", output }, { out }) =>
    (await reportCommand({ words, format, output, out })) ? exitCodes.passed : exitCodes.failed,
};

/** Prints what a run with the same options would do. */
const withPlan = (args: Arguments, deps: ProgramDeps, text: (plan: RunPlan) => string): Promise<number> =>
  withTarget(args, deps, async (target) =>
    reported(deps, text(await planConformance(optionsOf(args, target, await readConfig(args.config), deps)))),
  );

const reported = (deps: ProgramDeps, text: string): number => {
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
