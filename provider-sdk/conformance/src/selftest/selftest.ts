import { allChecks } from "../checks/registry.ts";
import type { CheckResult } from "../report/report.ts";
import { matchesAny, type Pattern } from "../suite/plan.ts";
import { type FaultOutcome, evaluatedTwice, evaluateFault } from "./fault-outcome.ts";
import { type BaselineOutcome, negativeBaselines, runNegativeBaseline } from "./negative-baselines.ts";
import { mutants, namedFaults } from "./mutants.ts";
import { processMutants, tlsMutants } from "./mutants/process.ts";
import { failingLifeChecks, runProcessMutant } from "./run-process-mutant.ts";
import { runBehindTls } from "./run-behind-tls.ts";
import {
  type Baseline,
  runBaseline,
  failed,
  runBehind,
  runMutants,
  runTwice,
  type SelftestTarget,
  withRequired,
} from "./run-mutant.ts";

/** What to try. */
export interface SelftestOptions extends SelftestTarget {
  /** The provider is the kit's own: it has to pass everything, and every fault has to be found. */
  readonly isReference: boolean;
  /** Starts a provider with a fault in a process of its own; undefined: such faults are left out. */
  readonly faultyProcess: ((fault: string | undefined) => readonly string[]) | undefined;
  /** Names of mutants and negative baselines. Empty: all. */
  readonly only: readonly string[];
  /** Only mutants that one of these checks has to find. Empty: all. */
  readonly checks: readonly Pattern[];
  /** Runs without fault with as many further seeds: the results have to be the same. */
  readonly seeds: number;
  readonly onEvent: (event: SelftestEvent) => void;
  /** Tries mutants in processes of their own. Undefined: all is done in this one. */
  readonly elsewhere?: Elsewhere | undefined;
}

/** Processes that try mutants side by side. */
export interface Elsewhere {
  /** Runs without fault, as often as further seeds ask for, and tries the mutants with these names. */
  readonly run: (names: readonly string[], onEvent: (event: SelftestEvent) => void) => Promise<void>;
}

/** What comes of a selftest, as it comes. */
export type SelftestEvent =
  | { readonly kind: "planned"; readonly faults: number; readonly negativeBaselines: number }
  /** A run without fault; `failing` has to be empty for the kit's own provider. */
  | {
      readonly kind: "correct";
      /** The first run, those with other seeds, that over TLS, that on a process of its own. */
      readonly which: "first" | "other" | "tls" | "process";
      readonly seed: number;
      readonly passed: number;
      readonly failing: readonly string[];
    }
  | { readonly kind: "fault"; readonly outcome: FaultOutcome }
  | { readonly kind: "negativeBaseline"; readonly outcome: BaselineOutcome };

/** Shows that the kit finds faults: runs it on the provider without fault, with each fault, and on providers with nothing right. */
export const wholeSelftest = async (options: SelftestOptions): Promise<void> => {
  const { onEvent } = options;
  const chosen = choose(options);
  const baselinesToRun =
    options.isReference && options.checks.length === 0 ? negativeBaselines.filter(isNamed(options.only)) : [];
  const processes = options.faultyProcess === undefined ? [] : chosen.processes;
  onEvent({
    kind: "planned",
    faults: chosen.mutants.length + chosen.fronts.length + processes.length,
    negativeBaselines: baselinesToRun.length,
  });
  // Those that wait and those that compute share the machine well.
  await Promise.all([
    runCalls(chosen.mutants, options, () => idsOf(options, chosen)),
    runTlsMutants(chosen.fronts, options).then(() => runProcesses(processes, options)),
    runNegativeBaselines(baselinesToRun, options),
  ]);
};

/** Runs without fault, and then with faults of calls. */
const runCalls = async (
  all: typeof mutants,
  options: SelftestOptions,
  wanted: () => readonly string[],
): Promise<void> => {
  const { only, checks, elsewhere, onEvent, seed } = options;
  if (elsewhere !== undefined && only.length === 0 && checks.length === 0) {
    const names = all.map(({ name }) => name);
    await elsewhere.run(names, (event) => {
      if (event.kind === "fault") onEvent(event);
      if (event.kind === "correct") onEvent({ ...event, which: event.seed === seed ? "first" : "other" });
    });
    return;
  }
  const about = checks.length === 0 ? [] : withRequired(wanted());
  const baseline = await runBaseline(options, about);
  onEvent({ kind: "correct", which: "first", seed, ...summedUp(baseline.report.results) });
  await runMutants(all, options, baseline, (outcome) => onEvent({ kind: "fault", outcome }));
  if (about.length === 0) await sameWithSeeds(options, baseline);
};

/** Where checks are chosen, they and those that have to fail with them are all that is run. */
const idsOf = ({ checks }: SelftestOptions, { mutants: all }: ReturnType<typeof choose>): readonly string[] => [
  ...allChecks.map(({ id }) => id).filter((id) => matchesAny(checks, id)),
  ...all.flatMap(({ fails }) => fails),
];

const isNamed =
  (names: readonly string[]) =>
  ({ name }: { readonly name: string }): boolean =>
    names.length === 0 || names.includes(name);

const choose = ({ only, checks, isReference }: SelftestOptions) => {
  const isWanted = (mutant: { readonly name: string; readonly fails: readonly string[] }): boolean =>
    isNamed(only)(mutant) && (checks.length === 0 || mutant.fails.some((id) => matchesAny(checks, id)));
  return {
    mutants: mutants.filter(isWanted),
    processes: processMutants.filter(isWanted),
    fronts: isReference ? tlsMutants.filter(isWanted) : [],
  };
};

/** Names of all that can be tried alone. */
export const selftestNames = (): readonly string[] => [...namedFaults, ...negativeBaselines].map(({ name }) => name);

/** What says nothing: another level, or no command to start providers with. */
const isEvaluated = ({ result }: CheckResult): boolean => result.kind !== "skip";

const summedUp = (results: readonly CheckResult[]) => ({
  passed: results.filter(({ result }) => result.kind === "pass").length,
  failing: results
    .filter((result) => isEvaluated(result) && result.result.kind !== "pass" && result.result.kind !== "advisory")
    .map(({ id, result }) => `${id} ${result.kind}`),
});

/** Runs with other seeds, side by side: nothing may depend on the order. */
const sameWithSeeds = async (options: SelftestOptions, baseline: Baseline): Promise<void> => {
  const before = new Map(baseline.report.results.map(({ id, result }) => [id, result.kind]));
  for (let index = 1; index <= options.seeds; index++) {
    const seed = options.seed + index;
    const { results } = await runTwice((run) => runBehind({}, options, { seed, run }));
    const failing = results
      .filter(({ id, result }) => result.kind !== before.get(id))
      .map(({ id, result }) => `${id} ${result.kind}, ${before.get(id) ?? "nothing"} with another seed`);
    options.onEvent({ kind: "correct", which: "other", seed, passed: summedUp(results).passed, failing });
  }
};

const runProcesses = async (processes: typeof processMutants, options: SelftestOptions): Promise<void> => {
  const { faultyProcess, onEvent, seed } = options;
  if (faultyProcess === undefined || processes.length === 0) return;
  const failing = await failingLifeChecks(faultyProcess(undefined), options);
  onEvent({ kind: "correct", which: "process", seed, passed: 0, failing });
  const waiting = [...processes];
  const worker = async (): Promise<void> => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      options.signal.throwIfAborted();
      const run = () => runProcessMutant(mutant, faultyProcess(mutant.name), options, failing);
      onEvent({ kind: "fault", outcome: await evaluatedTwice(run) });
    }
  };
  await Promise.all([worker(), worker()]);
};

/** Each is compared with TLS that is right: over TCP other checks run than at a socket. */
const runTlsMutants = async (all: typeof tlsMutants, options: SelftestOptions): Promise<void> => {
  if (all.length === 0) return;
  const right = await runTwice((run) => runBehindTls({}, options, run));
  const passing = new Set(right.results.filter(({ result }) => result.kind === "pass").map(({ id }) => id));
  options.onEvent({ kind: "correct", which: "tls", seed: options.seed, ...summedUp(right.results) });
  for (const mutant of all) {
    options.signal.throwIfAborted();
    const run = async () => {
      const startedMs = performance.now();
      const failing = failed(await runBehindTls(mutant.front, options));
      return evaluateFault({ mutant, passing, failing, elapsedMs: performance.now() - startedMs });
    };
    options.onEvent({ kind: "fault", outcome: await evaluatedTwice(run) });
  }
};

/** They wait more than they compute. */
const baselineWorkers = 3;

const runNegativeBaselines = async (all: typeof negativeBaselines, options: SelftestOptions): Promise<void> => {
  const waiting = [...all];
  const worker = async (): Promise<void> => {
    for (let baseline = waiting.shift(); baseline !== undefined; baseline = waiting.shift()) {
      options.signal.throwIfAborted();
      options.onEvent({ kind: "negativeBaseline", outcome: await runNegativeBaseline(baseline, options) });
    }
  };
  await Promise.all(Array.from({ length: baselineWorkers }, worker));
};
