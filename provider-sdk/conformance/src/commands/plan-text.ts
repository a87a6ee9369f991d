import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { Fixtures } from "../suite/fixtures.ts";
import type { PlannedCheck } from "../suite/plan.ts";
import type { PlanSummary } from "../suite/plan-summary.ts";

/** What a run would do, for whoever has to agree to it. */
export const planText = (
  { name, version }: GetProviderInfoResponse,
  { all, runs, makes, unknown, starts, hooks }: PlanSummary,
  { limits = {}, testCloud }: Fixtures,
): string => {
  const { loadBalancers, routes, atOnce } = makes;
  const more = unknown.length === 0 ? "" : `; what ${some(unknown)} make was never counted`;
  const lines: readonly (readonly [string, string])[] = [
    ["provider", `${name} ${version}`],
    ["runs", `${runs.length} of ${all} checks`],
    [
      "makes",
      loadBalancers + routes + unknown.length === 0
        ? "nothing at the cloud"
        : `${counted(loadBalancers, "load balancer")} and ${counted(routes, "route")} at the cloud, ${atOnce} at once, and removes them${more}`,
    ],
    [
      "limit",
      limits.maxResources === undefined ? "none; limits.maxResources sets one" : `${limits.maxResources} at once`,
    ],
    ["cost", limits.maxCostNote ?? "not told; limits.maxCostNote is the place to"],
    ["cloud", testCloud === undefined ? "may be a real one" : `for tests, at ${testCloud}`],
    ["starts", starts.length === 0 ? "no provider" : `providers of its own, for ${counted(starts.length, "check")}`],
    ["hooks", hooks.join(", ") || "none"],
  ];
  return lines.map(([what, text]) => `${what.padEnd(10)}${text}\n`).join("");
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

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

const some = (ids: readonly string[]): string =>
  ids.length > 3 ? `${ids.slice(0, 3).join(", ")} and ${ids.length - 3} more` : ids.join(", ");
