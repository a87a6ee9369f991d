import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Level, levels } from "../suite/check.ts";
import type { Fixtures } from "../suite/fixtures.ts";
import { allChecks } from "../checks/registry.ts";
import type { CheckResult, Report } from "../report/report.ts";
import { runConformance, type RunOptions } from "../suite/run-conformance.ts";
import { matchesAny, parsePattern } from "../suite/plan.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import { type Failure, type FaultOutcome, evaluatedTwice, evaluateFault } from "./fault-outcome.ts";
import type { Mutant } from "./mutant.ts";
import { startMutantProxy } from "./mutant-proxy.ts";
import { slowChecks } from "./mutants.ts";
import { Trace } from "./trace.ts";

/** A provider that is being served for a while. */
export interface Served {
  readonly endpoint: Endpoint;
  /** What is known of its cloud. */
  readonly fixtures: Fixtures;
  readonly close: () => Promise<void>;
}

/** What to put faults into. */
export interface SelftestTarget {
  /** The provider without fault; a new one each time where it can be. */
  readonly serve: () => Promise<Served>;
  /** Highest level of checks that are run. */
  readonly level: Level;
  /** Mutants at once. */
  readonly workers: number;
  readonly seed: number;
  readonly slowFactor: number;
  readonly startTimeoutMs: number;
  /** Every check on every mutant, also those that cannot see its fault. */
  readonly thorough: boolean;
  readonly signal: AbortSignal;
}

/** What is known of a provider without fault. */
export interface Baseline {
  readonly report: Report;
  /** Ids of the checks that pass. */
  readonly passing: ReadonlySet<string>;
  readonly trace: Trace;
}

/** What proxied load balancers leave is gone with the provider. */
const cleanUpTimeoutMs = 1_000;
/** Several runs share the machine: a check is late long before it hangs. */
const timeFactor = 3;

/** What runs on a provider have in common. */
export const runOptions = ({ level, seed, slowFactor, startTimeoutMs, signal }: SelftestTarget) =>
  ({ level, seed, slowFactor, startTimeoutMs, signal, cleanUpTimeoutMs, timeFactor }) as const;

/** Runs every check on the provider as it is, or those with some ids, and takes their calls down. */
export const runBaseline = async (target: SelftestTarget, about: readonly string[] = []): Promise<Baseline> => {
  const trace = new Trace();
  const report = await runTwice((again) =>
    runBehind({ intercept: trace.intercept }, target, {
      run: again.length === 0 ? about : again,
      onBorrow: (check, from) => trace.borrow(check, from),
    }),
  );
  const passed = report.results.filter(({ result }) => result.kind === "pass");
  return { report, passing: new Set(passed.map(({ id }) => id)), trace };
};

/** A report in which what failed has run once more: a machine that is busy may make a check late. */
export const runTwice = async (run: (ids: readonly string[]) => Promise<Report>): Promise<Report> => {
  const first = await run([]);
  const isBad = ({ result }: CheckResult): boolean => !["pass", "skip", "advisory"].includes(result.kind);
  const bad = first.results.filter(isBad).map(({ id }) => id);
  if (bad.length === 0) return first;
  const second = new Map((await run(withRequired(bad))).results.map((result) => [result.id, result]));
  return { ...first, results: first.results.map((result) => (isBad(result) && second.get(result.id)) || result) };
};

const lower = (one: Level, other: Level): Level => (levels.indexOf(one) < levels.indexOf(other) ? one : other);

/** Runs the checks that can see a fault, and returns which failed. */
const runMutant = async (mutant: Mutant, target: SelftestTarget, baseline: Baseline): Promise<FaultOutcome> => {
  const startedMs = performance.now();
  const must = mutant.fails.filter((id) => baseline.passing.has(id));
  if (must.length === 0) return evaluateFault({ mutant, passing: baseline.passing, failing: [], elapsedMs: 0 });
  const run = target.thorough ? [] : await visible(mutant, baseline);
  const { patience = 1 } = mutant;
  // Less patience is for what never happens; a start is waited for as long as ever.
  const waits = { slowFactor: target.slowFactor * patience, startTimeoutMs: target.startTimeoutMs / patience };
  // An entry that names the checks it is about is about those up to its level.
  const level = target.thorough || mutant.only === undefined ? target.level : lower(mutant.level ?? "R", target.level);
  const report = await runBehind(mutant, target, { run, ...waits, level }, (fixtures) => fixturesFor(mutant, fixtures));
  const elapsedMs = performance.now() - startedMs;
  return evaluateFault({ mutant, passing: baseline.passing, failing: failed(report), elapsedMs });
};

/** Runs one after the other in each worker. */
export const runMutants = async (
  mutants: readonly Mutant[],
  target: SelftestTarget,
  baseline: Baseline,
  onOutcome: (outcome: FaultOutcome) => void,
): Promise<void> => {
  const waiting = [...mutants];
  const worker = async (): Promise<void> => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      target.signal.throwIfAborted();
      const faulty = mutant;
      onOutcome(await evaluatedTwice(() => runMutant(faulty, target, baseline)));
    }
  };
  await Promise.all(Array.from({ length: target.workers }, worker));
};

/** Checks that measure time while other mutants run: only where they have to fail. */
export const timedChecks: readonly string[] = ["proc.conn.**", "info.fast", "status.cheap"];

/** Ids of the checks that see a fault, that have to fail on it, and that either needs. */
const visible = async (mutant: Mutant, { trace, passing }: Baseline): Promise<readonly string[]> => {
  if (mutant.only !== undefined) {
    const only = patternsOf(mutant.only);
    return [...without(timedChecks, ids).filter((id) => matchesAny(only, id)), ...mutant.fails];
  }
  const touched = await trace.touchedBy(mutant);
  if (touched !== "all") return withRequired([...without(timedChecks, [...touched]), ...mutant.fails]);
  return withRequired([...without([...slowChecks, ...(mutant.skip ?? [])], [...passing]), ...mutant.fails]);
};

const patternsOf = (texts: readonly string[]) => texts.map((text) => parsePattern(text, ids));

const without = (left: readonly string[], all: readonly string[]): readonly string[] => {
  const patterns = patternsOf(left);
  return all.filter((id) => !matchesAny(patterns, id));
};

const ids = allChecks.map(({ id }) => id);
const byId = new Map(allChecks.map((check) => [check.id, check]));

/** The checks and all that they require. */
export const withRequired = (ids: readonly string[]): readonly string[] => {
  const found = new Set<string>();
  const add = (id: string): void => {
    if (found.has(id)) return;
    found.add(id);
    for (const required of byId.get(id)?.requires ?? []) add(required);
  };
  for (const id of ids) add(id);
  return [...found];
};

/** The checks that failed, or that the kit could not evaluate because of its own fault. */
export const failed = ({ results }: Report): readonly Failure[] =>
  results.flatMap(({ id, result }) => {
    if (result.kind === "error") return [{ id, says: result.message }];
    if (result.kind !== "fail") return [];
    const { message, got } = result.finding;
    return [{ id, says: got === undefined ? message : `${message}: ${got}` }];
  });

/** Few faults show themselves only where the cloud can be broken or holds much; the checks that do so would only hold up the others. */
const fixturesFor = ({ level, hooks: alter = (given) => given }: Mutant, fixtures: Fixtures): Fixtures => {
  const { hooks = {}, scale, ...others } = fixtures;
  return level === "D" || level === "X" ? { ...others, ...(scale && { scale }), hooks: alter(hooks) } : others;
};

type Fault = Omit<Mutant, "name" | "fault" | "fails">;

/** Runs checks on the provider with a fault put before it. */
export const runBehind = async (
  fault: Fault,
  target: SelftestTarget,
  options: Partial<RunOptions> = {},
  alter: (fixtures: Fixtures) => Fixtures = (fixtures) => fixtures,
): Promise<Report> => {
  const served = await target.serve();
  const directory = await mkdtemp(join(tmpdir(), "conformance-selftest-"));
  const path = join(directory, "provider.sock");
  const intercept = fault.intercept ?? ((request, next) => next(request));
  const proxy = await startMutantProxy(served.endpoint, path, { ...fault, intercept });
  try {
    return await runConformance({
      ...runOptions(target),
      fixtures: alter(served.fixtures),
      endpoint: `unix://${path}`,
      ...options,
    });
  } finally {
    await proxy.close();
    await served.close();
    await rm(directory, { recursive: true, force: true });
  }
};
