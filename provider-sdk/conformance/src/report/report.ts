import type { Finding, Level, ProfileName } from "../suite/check.ts";

/** Why a check did not run. */
export type SkipReason =
  | "capability"
  | "level"
  | "fixture"
  | "hook"
  | "transport"
  | "mode"
  | "limit"
  | "user"
  | "stopped";

/** What came of a check. */
export type CheckOutcome =
  | { readonly kind: "pass" }
  | { readonly kind: "fail"; readonly finding: Finding }
  /** A check that it requires did not pass, or the provider was lost: nothing is known. */
  | { readonly kind: "blocked"; readonly by: string }
  | { readonly kind: "skip"; readonly reason: SkipReason; readonly detail: string }
  /** Failed, and was said to. */
  | { readonly kind: "known-fail"; readonly finding: Finding }
  /** Failed and then passed, and was said to. */
  | { readonly kind: "flaky"; readonly finding: Finding }
  /** Failed, and does not count. */
  | { readonly kind: "advisory"; readonly finding: Finding }
  /** The kit broke: its fault, not the provider's. */
  | { readonly kind: "error"; readonly message: string };

/** One check's result. */
export interface CheckResult {
  readonly id: string;
  readonly level: Level;
  readonly profile: ProfileName;
  readonly title: string;
  readonly rules: readonly string[];
  readonly result: CheckOutcome;
  readonly elapsedMs: number;
  /** The command that repeats the call which failed. */
  readonly repeat?: string;
}

/** What all checks of a profile say together. */
export interface ProfileResult {
  readonly name: ProfileName;
  /** Conformant: every check passed. Partial: none failed, but some did not run or were knownFailures. */
  readonly result: "conformant" | "partial" | "failed";
  readonly passed: number;
  readonly failed: number;
  readonly blocked: number;
  /** Skipped because a fixture is missing, or by a user's option. */
  readonly skipped: number;
  /** Known to fail, or flaky. */
  readonly knownFailures: number;
}

/** Everything about one run; each format is made from it. */
export interface Report {
  readonly schemaVersion: 2;
  readonly kit: { readonly version: string; readonly contractMajor: number };
  /** The cluster ID of the run is `conformance-` and this: the ownership tag of all that it creates. */
  readonly runId: string;
  readonly startTime: string;
  readonly elapsedMs: number;
  readonly target: { readonly endpoint: string; readonly command?: readonly string[] };
  readonly provider: {
    readonly name: string;
    readonly version: string;
    readonly contractMajor: number;
    readonly contractMinor: number;
    readonly bootId: string;
    readonly capabilities: readonly string[];
    readonly build: Readonly<Record<string, string>>;
  };
  readonly level: Level;
  readonly seed: number;
  readonly slowFactor: number;
  readonly profiles: readonly ProfileResult[];
  readonly results: readonly CheckResult[];
}

/** Sums up the results by profile, in the order of the results. */
export const profileResults = (results: readonly CheckResult[]): readonly ProfileResult[] =>
  [...Map.groupBy(results, ({ profile }) => profile)]
    .map(([name, ofProfile]) => profileResult(name, ofProfile))
    .filter((result) => result.passed + result.failed + result.blocked + result.knownFailures > 0);

const profileResult = (name: ProfileName, results: readonly CheckResult[]): ProfileResult => {
  const count = (counts: (result: CheckOutcome) => boolean): number =>
    results.filter(({ result }) => counts(result)).length;
  const passed = count(({ kind }) => kind === "pass");
  const failed = count(({ kind }) => kind === "fail" || kind === "error");
  const blocked = count(({ kind }) => kind === "blocked");
  const knownFailures = count(({ kind }) => kind === "known-fail" || kind === "flaky");
  const skipped = count((result) => result.kind === "skip" && countsAgainst(result.reason));
  const result = failed > 0 ? "failed" : blocked + knownFailures + skipped > 0 ? "partial" : "conformant";
  return { name, result, passed, failed, blocked, skipped, knownFailures };
};

/** An unclaimed capability is no failure; the level and the target of a run show how far it went. */
const countsAgainst = (reason: SkipReason): boolean => ["fixture", "hook", "limit", "user", "stopped"].includes(reason);

/** Whether a check failed, or could not be evaluated for a reason other than a known failure. */
export const hasFailed = ({ results }: Pick<Report, "results">): boolean => {
  const outcomes = new Map(results.map(({ id, result }) => [id, result]));
  const isKnownFailure = (by: string): boolean => {
    const result = outcomes.get(by);
    return result?.kind === "known-fail" || (result?.kind === "blocked" && isKnownFailure(result.by));
  };
  return results.some(
    ({ result }) => result.kind === "fail" || (result.kind === "blocked" && !isKnownFailure(result.by)),
  );
};
