import type { Fixtures } from "../suite/fixtures.ts";
import { levels } from "../suite/check.ts";
import { made } from "../gen/made.ts";
import { planConformance, type RunOptions } from "../suite/run-conformance.ts";
import { needsConsent, summarise } from "../suite/plan-summary.ts";
import type { Arguments } from "../cli/arguments.ts";
import { planText } from "./plan-text.ts";
import { exitCodes, type ProgramDeps } from "../cli/program-deps.ts";

/** Tells what a run would do where that is asked for, or where somebody has to agree first. Answers the exit code that ends it; undefined: it goes on. */
export const planOrConsent = async (
  { plan, yes, level }: Pick<Arguments, "plan" | "yes" | "level">,
  options: RunOptions,
  fixtures: Fixtures,
  deps: ProgramDeps,
): Promise<number | undefined> => {
  const mayMake = levels.indexOf(level) >= levels.indexOf("M");
  if (!plan && (yes || !mayMake)) return undefined;
  const { info, planned } = await planConformance(options);
  const summary = summarise(planned, made);
  if (plan) {
    deps.out(planText(info, summary, fixtures));
    return exitCodes.passed;
  }
  if (!needsConsent(summary, fixtures.testCloud)) return undefined;
  deps.err(
    `${planText(info, summary, fixtures)}cloudwire-conformance: nothing was done yet; the same with --yes does it. A cloud for tests on loopback is told by testCloud in --config, and needs no --yes\n`,
  );
  return exitCodes.usage;
};
