import { type Check, type CheckContext, CheckFailure, CheckSkipped, type Finding } from "./check.ts";
import type { Fixtures } from "./fixtures.ts";
import { HookError } from "./hooks.ts";
import type { CheckResult, CheckOutcome } from "../report/report.ts";
import { type Pattern, type PlannedCheck, matchesAny } from "./plan.ts";

/** Longest time of a check that does not say otherwise. */
const defaultTimeoutMs = 15_000;
/** How often a check that is known to be flaky is tried. */
const flakyTries = 3;

/** Of checks that had not ended when the run was. */
const stopped: CheckOutcome = { kind: "skip", reason: "stopped", detail: "the run was stopped" };

/** What the runner needs. */
export interface RunnerDeps {
  /** A context for one run of a check; it is closed after. */
  readonly openContext: (check: Check, signal: AbortSignal) => { context: CheckContext; close: () => Promise<void> };
  /** After a failure: undefined if the provider still answers, else what became of it. */
  readonly lost: () => Promise<string | undefined>;
  /** Why no check can be evaluated any longer, though the provider may respond: a fault in the cloud that stays. */
  readonly stuck: () => string | undefined;
  readonly repeatLine: (finding: Finding) => string | undefined;
  readonly started: (check: Check) => void;
  readonly finished: (result: CheckResult) => void;
  readonly parallel: number;
  readonly fixtures: Fixtures;
  readonly slowFactor: number;
  readonly knownFailing: readonly Pattern[];
  readonly knownFlaky: readonly Pattern[];
  /** Aborted: nothing more is begun, and what is under way is left out. */
  readonly signal: AbortSignal;
}

/** Runs what is planned: first what may run side by side, then what wants the provider for itself. */
export class Runner {
  readonly #deps: RunnerDeps;
  readonly #results = new Map<string, CheckResult>();
  /** Why nothing can be found out any more. */
  #lost: string | undefined;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
  }

  /** Answers the results in the order of the plan. */
  async run(planned: readonly PlannedCheck[]): Promise<readonly CheckResult[]> {
    for (const { check, skip } of planned)
      if (skip !== undefined) this.#finish(check, { kind: "skip", ...skip }, 0, false);
    const toRun = planned.filter(({ skip }) => skip === undefined).map(({ check }) => check);
    await this.#runAll(
      toRun.filter(({ exclusive }) => exclusive !== true),
      this.#deps.parallel,
    );
    await this.#runAll(
      toRun.filter(({ exclusive }) => exclusive === true),
      1,
    );
    return planned.flatMap(({ check }) => this.#results.get(check.id) ?? []);
  }

  /** Runs each check once those that it requires are done, at most as many at a time as there are workers. */
  async #runAll(checks: readonly Check[], workers: number): Promise<void> {
    const waiting = new Set(checks);
    const ready = (check: Check): boolean =>
      (check.requires ?? []).every((id) => ![...waiting].some((other) => other.id === id) && !running.has(id));
    const running = new Map<string, Promise<void>>();
    while (waiting.size > 0 || running.size > 0) {
      for (const check of waiting) {
        if (running.size >= workers) break;
        if (!ready(check)) continue;
        waiting.delete(check);
        const work = this.#runOne(check).finally(() => running.delete(check.id));
        running.set(check.id, work);
      }
      await Promise.race(running.values());
    }
  }

  async #runOne(check: Check): Promise<void> {
    if (this.#deps.signal.aborted) return this.#finish(check, stopped, 0, true);
    const by = this.#lost ?? this.#blocker(check);
    if (by !== undefined) return this.#finish(check, { kind: "blocked", by }, 0, true);
    this.#deps.started(check);
    const startedMs = performance.now();
    const result = await this.#evaluate(check);
    if (result.kind === "fail" || result.kind === "known-fail") {
      const lost = await this.#deps.lost();
      if (lost !== undefined) this.#lost ??= `${lost}, last during ${check.id}`;
    }
    this.#lost ??= this.#deps.stuck();
    this.#finish(check, result, performance.now() - startedMs, true);
  }

  /** A required check that did not pass; one that was left out says nothing against. */
  #blocker(check: Check): string | undefined {
    const required = (check.requires ?? []).flatMap((id) => this.#results.get(id) ?? []);
    return required.find(({ result }) => !["pass", "skip", "advisory", "flaky"].includes(result.kind))?.id;
  }

  async #evaluate(check: Check): Promise<CheckOutcome> {
    const first = await this.#attempt(check);
    // What a check finds while its calls are cancelled is no finding.
    if (this.#deps.signal.aborted && first.kind !== "pass") return stopped;
    if (matchesAny(this.#deps.knownFailing, check.id)) return asKnownFailing(first);
    if (first.kind !== "fail") return first;
    if (check.advisory === true) return { kind: "advisory", finding: first.finding };
    if (!matchesAny(this.#deps.knownFlaky, check.id)) return first;
    for (let tries = 1; tries < flakyTries; tries++)
      if ((await this.#attempt(check)).kind === "pass") return { kind: "flaky", finding: first.finding };
    return first;
  }

  async #attempt(check: Check): Promise<CheckOutcome> {
    const timeoutMs = limitMs(check, this.#deps.fixtures) * this.#deps.slowFactor;
    const timeUp = AbortSignal.timeout(Math.ceil(timeoutMs));
    const signal = AbortSignal.any([timeUp, this.#deps.signal]);
    const { context, close } = this.#deps.openContext(check, signal);
    const aborted = Promise.withResolvers<CheckOutcome>();
    const onAbort = (): void =>
      aborted.resolve({ kind: "fail", finding: { message: `the check did not end within ${timeoutMs} ms` } });
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await Promise.race([
        // Some throw before they wait for anything.
        (async () => check.run(context))().then(() => ({ kind: "pass" }) as const, toOutcome),
        aborted.promise,
      ]);
    } finally {
      signal.removeEventListener("abort", onAbort);
      await close();
    }
  }

  #finish(check: Check, result: CheckOutcome, elapsedMs: number, report: boolean): void {
    const { id, level, profile, title, rules } = check;
    const repeat = "finding" in result ? this.#deps.repeatLine(result.finding) : undefined;
    const row = { id, level, profile, title, rules, result, elapsedMs, ...(repeat !== undefined && { repeat }) };
    this.#results.set(id, row);
    if (report) this.#deps.finished(row);
  }
}

const limitMs = ({ timeoutMs = defaultTimeoutMs }: Check, fixtures: Fixtures): number =>
  typeof timeoutMs === "number" ? timeoutMs : timeoutMs(fixtures);

const toOutcome = (error: unknown): CheckOutcome => {
  if (error instanceof CheckFailure) return { kind: "fail", finding: error.finding };
  if (error instanceof HookError) return { kind: "blocked", by: error.message };
  if (error instanceof CheckSkipped) return { kind: "skip", reason: error.reason, detail: error.message };
  return { kind: "error", message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
};

const asKnownFailing = (result: CheckOutcome): CheckOutcome => {
  if (result.kind === "fail") return { kind: "known-fail", finding: result.finding };
  if (result.kind !== "pass") return result;
  return { kind: "fail", finding: { message: "passes, but is listed as known to fail: take it off that list" } };
};
