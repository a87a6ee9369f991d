import { levels } from "../suite/check.ts";
import { UsageError } from "../errors.ts";
import { type CheckResult, profileResults, type Report, type CheckOutcome } from "./report.ts";

/** Worst first; what ran is worth more than what was left out. */
const order: readonly CheckOutcome["kind"][] = [
  "error",
  "fail",
  "known-fail",
  "flaky",
  "advisory",
  "blocked",
  "pass",
  "skip",
];

/**
 * Makes one report of several runs on the same provider: of each check the worst that was seen. Its level is the lowest of theirs, for only so far did
 * everything run. Throws a UsageError where the runs do not belong together.
 */
export const mergeReports = (reports: readonly Report[]): Report => {
  const [first, ...others] = reports;
  if (first === undefined) throw new UsageError("there is nothing to merge; give files that --format json wrote");
  for (const other of others) {
    const difference = identity.find(([, of]) => of(first) !== of(other));
    if (difference !== undefined) {
      const [what, of] = difference;
      throw new UsageError(`these reports are not of the same ${what}: ${of(first)} and ${of(other)}`);
    }
  }
  const byId = Map.groupBy(
    reports.flatMap(({ results }) => results),
    ({ id }) => id,
  );
  const results = [...byId.values()].flatMap((ofCheck) => ofCheck.toSorted(byResult).slice(0, 1));
  return {
    ...first,
    startTime: reports.map(({ startTime }) => startTime).toSorted()[0] ?? first.startTime,
    elapsedMs: reports.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0),
    level: levels.find((level) => reports.some((report) => report.level === level)) ?? first.level,
    slowFactor: Math.max(...reports.map(({ slowFactor }) => slowFactor)),
    target: reports.find(({ target }) => target.command === undefined)?.target ?? first.target,
    profiles: profileResults(results),
    results,
  };
};

/** What reports that belong together have in common. */
const identity: readonly (readonly [string, (report: Report) => string])[] = [
  ["provider", ({ provider }) => provider.name],
  ["version of it", ({ provider }) => provider.version],
  ["contract", ({ provider }) => `${provider.contractMajor}.${provider.contractMinor}`],
  ["claims", ({ provider }) => provider.capabilities.join(" ")],
  ["kit", ({ kit }) => kit.version],
];

const byResult = (one: CheckResult, other: CheckResult): number =>
  order.indexOf(one.result.kind) - order.indexOf(other.result.kind);
