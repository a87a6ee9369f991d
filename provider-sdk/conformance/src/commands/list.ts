import type { Arguments } from "../cli/arguments.ts";
import { allChecks } from "../checks/registry.ts";
import type { Check } from "../suite/check.ts";
import { matchesAny, parsePattern, type PlannedCheck } from "../suite/plan.ts";

/** The checks that the command line selects. */
export const chosen = (args: Arguments): readonly Check[] => {
  const ids = allChecks.map(({ id }) => id);
  const wantedIds = args.run.map((text) => parsePattern(text, ids));
  return allChecks.filter(
    ({ id, profile }) =>
      (wantedIds.length === 0 || matchesAny(wantedIds, id)) &&
      (args.profiles.length === 0 || args.profiles.includes(profile)),
  );
};

/** Every check on a line. */
export const listing = (checks: readonly Check[]): string => {
  const width = Math.max(...checks.map(({ id }) => id.length));
  const lines = checks.map(
    ({ id, level, profile, title, rules, advisory }) =>
      `${id.padEnd(width)}  ${level}  ${profile.padEnd(14)}  ${title} [${rules.join(", ")}]${advisory === true ? " (advice)" : ""}`,
  );
  return `${lines.join("\n")}\n\n${checks.length} checks\n`;
};

/** Every check on a line: whether it would run, and why not. */
export const whyText = (planned: readonly PlannedCheck[]): string => {
  const width = Math.max(...planned.map(({ check }) => check.id.length));
  const lines = planned.map(({ check, skip }) => {
    const { id, level, profile, rules } = check;
    return `${id.padEnd(width)}  ${level}  ${profile.padEnd(14)}  ${rules.join(", ").padEnd(16)}  ${skip === undefined ? "runs" : `${skip.reason}: ${skip.detail}`}`;
  });
  const count = planned.filter(({ skip }) => skip === undefined).length;
  return `${lines.join("\n")}\n\n${count} of ${planned.length} checks would run\n`;
};
