import { type Check, levels } from "../suite/check.ts";
import { kitVersion } from "../kit-version.ts";
import { type CheckResult, profileResults, type Report } from "./report.ts";

/**
 * The inconsistencies of a report: sums that its results do not give, checks that are missing, unknown or different from the kit's. An empty
 * result means that this kit can have written the report; only a signature could prove that it did.
 */
export const reportProblems = (report: Report, checks: readonly Check[]): readonly string[] => [
  ...(report.kit.version === kitVersion
    ? compareChecks(report, checks)
    : [`it is of kit ${report.kit.version}, and only that kit knows its checks; this is ${kitVersion}`]),
  ...compareSums(report),
  ...report.results.flatMap((result) => excuseProblem(result, report)),
];

const compareChecks = ({ results }: Report, checks: readonly Check[]): readonly string[] => {
  const known = new Map(checks.map((check) => [check.id, check]));
  const seen = new Set<string>();
  const problems = results.flatMap((result) => {
    const check = known.get(result.id);
    if (check === undefined) return [`${result.id} is no check of this kit`];
    if (seen.has(result.id)) return [`${result.id} is in it twice`];
    seen.add(result.id);
    const same =
      check.level === result.level &&
      check.profile === result.profile &&
      check.title === result.title &&
      check.rules.join() === result.rules.join();
    return same ? [] : [`${result.id} differs from the kit's check`];
  });
  const profiles = new Set(results.map(({ profile }) => profile));
  const missing = checks.filter(({ id, profile }) => profiles.has(profile) && !seen.has(id));
  return [...problems, ...missing.map(({ id }) => `${id} is missing`)];
};

const compareSums = ({ profiles, results }: Report): readonly string[] => {
  const sums = profileResults(results);
  return isSame(profiles, sums)
    ? []
    : [`the profiles say ${sumLine(profiles)}, and the results add up to ${sumLine(sums)}`];
};

const isSame = (reported: Report["profiles"], sums: Report["profiles"]): boolean =>
  reported.map(sumKey).toSorted().join() === sums.map(sumKey).toSorted().join();

const sumKey = ({
  name,
  result,
  passed,
  failed,
  blocked,
  skipped,
  knownFailures,
}: Report["profiles"][number]): string => [name, result, passed, failed, blocked, skipped, knownFailures].join(" ");

const sumLine = (profiles: Report["profiles"]): string =>
  profiles.map(({ name, result, passed, failed }) => `${name} ${result} (${passed}/${passed + failed})`).join(", ") ||
  "nothing";

/** A reason to leave a check out that the report itself denies. */
const excuseProblem = ({ id, level, result }: CheckResult, report: Report): readonly string[] => {
  if (result.kind !== "skip") return [];
  if (result.reason === "level" && levels.indexOf(level) <= levels.indexOf(report.level))
    return [`${id} was left out for its level, ${level}, but the run was of level ${report.level}`];
  if (result.reason === "mode" && report.target.command !== undefined)
    return [`${id} was skipped because no command was given, but one was`];
  return [];
};
