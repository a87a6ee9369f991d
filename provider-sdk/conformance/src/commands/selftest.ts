import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fixtures } from "../check/fixtures.ts";
import type { Report } from "../report/report.ts";
import { runConformance } from "../run-conformance.ts";
import { matchesAny, type Pattern } from "../runner/patterns.ts";
import type { Mutant } from "../selftest/mutant.ts";
import { startMutantProxy } from "../selftest/mutant-proxy.ts";
import { slowChecks } from "../selftest/mutants.ts";
import { parseEndpoint } from "../wire/endpoint.ts";

/** Whether a fault was found. */
export interface MutantOutcome {
  readonly mutant: Mutant;
  /**
   * Found: exactly the checks failed that have to. Differs: others did. Not shown: none of the checks that have to fail passes on the provider without
   * the fault, so there is nothing to see.
   */
  readonly kind: "found" | "differs" | "not shown";
  /** Ids of the checks that have to fail, of those that pass without the fault. */
  readonly must: readonly string[];
  /** Ids of the checks that did. */
  readonly did: readonly string[];
}

/** What to put faults into. */
export interface SelftestOptions {
  readonly mutants: readonly Mutant[];
  /** Only mutants that one of these checks has to find. Empty: all. */
  readonly checks: readonly Pattern[];
  /** Where the provider listens. */
  readonly endpoint: string;
  readonly fixtures: Fixtures;
  readonly seed: number;
  readonly parallel: number;
  readonly slowFactor: number;
  readonly startTimeoutMs: number;
  readonly signal: AbortSignal;
  readonly onOutcome: (outcome: MutantOutcome) => void;
}

/** Puts one fault after the other into a provider, and tells which checks fail on each. Changes nothing at the cloud. */
export const selftest = async (options: SelftestOptions): Promise<readonly MutantOutcome[]> => {
  const { endpoint, mutants, checks } = options;
  const { fixtures, seed, parallel, slowFactor, startTimeoutMs, signal } = options;
  const runOptions = { fixtures, seed, parallel, slowFactor, startTimeoutMs, signal };
  const passing = passed(await runConformance({ ...runOptions, endpoint }));
  const wanted = mutants.filter(({ fails }) => checks.length === 0 || fails.some((id) => matchesAny(checks, id)));
  const folder = await mkdtemp(join(tmpdir(), "conformance-selftest-"));
  const outcomes: MutantOutcome[] = [];
  try {
    for (const mutant of wanted) {
      const provable = mutant.fails.some((id) => passing.has(id));
      const path = join(folder, `${mutant.name}.sock`);
      const failing = provable ? await failingOn(mutant, path, endpoint, runOptions) : [];
      const outcome = judgeMutant(mutant, passing, failing);
      options.onOutcome(outcome);
      outcomes.push(outcome);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return outcomes;
};

/** Compares what failed with what has to. Checks that fail without the fault say nothing about it. */
export const judgeMutant = (
  mutant: Mutant,
  passing: ReadonlySet<string>,
  failing: readonly string[],
): MutantOutcome => {
  const must = mutant.fails.filter((id) => passing.has(id)).toSorted();
  const did = failing.filter((id) => passing.has(id)).toSorted();
  if (must.length === 0) return { mutant, kind: "not shown", must, did };
  return { mutant, kind: must.join() === did.join() ? "found" : "differs", must, did };
};

const failingOn = async (
  mutant: Mutant,
  path: string,
  upstream: string,
  options: Omit<Parameters<typeof runConformance>[0], "endpoint">,
): Promise<readonly string[]> => {
  const intercept = mutant.intercept ?? ((request, next) => next(request));
  const proxy = await startMutantProxy(parseEndpoint(upstream), path, { ...mutant, intercept });
  try {
    const which = mutant.only === undefined ? { skip: [...slowChecks, ...(mutant.skip ?? [])] } : { run: mutant.only };
    const report = await runConformance({ ...options, ...which, endpoint: `unix://${path}` });
    return report.results
      .filter(({ verdict }) => verdict.kind === "fail" || verdict.kind === "kit-error")
      .map(({ id }) => id);
  } finally {
    await proxy.close();
  }
};

const passed = ({ results }: Report): ReadonlySet<string> =>
  new Set(results.filter(({ verdict }) => verdict.kind === "pass").map(({ id }) => id));

/** A line for a fault that was found, and what differs for others. */
export const outcomeLines = ({ mutant: { name, fault }, kind, must, did }: MutantOutcome): string => {
  const first = `${kind.toUpperCase().padEnd(9)}  ${name}  ${fault}`;
  switch (kind) {
    case "found":
      return `${first}\n  must and did fail  ${must.join(", ")}\n`;
    case "differs":
      return `${first}\n  must fail  ${must.join(", ")}\n  did fail   ${did.join(", ") || "none"}\n`;
    case "not shown":
      return `${first}\n`;
  }
  return kind satisfies never;
};

/** `selftest: 80 faults, 75 found, 5 not shown` */
export const selftestSummary = (outcomes: readonly MutantOutcome[]): string => {
  const count = (kind: MutantOutcome["kind"]): number => outcomes.filter((outcome) => outcome.kind === kind).length;
  const unshown = count("not shown");
  const shown = unshown === 0 ? "" : `, ${unshown} not shown, for want of a check that passes without them`;
  return `selftest: ${outcomes.length} faults, ${count("found")} found, ${count("differs")} otherwise than they have to be${shown}\n`;
};
