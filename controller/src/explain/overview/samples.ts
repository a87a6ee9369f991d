import type { Sample } from "@cloudwire/operator-api";
import type { Logger } from "../../telemetry/log.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { iso } from "../../util/text.ts";

/** Numbers that only grow, by whose they are. */
export interface Totals {
  readonly calls: Readonly<Record<string, number>>;
  readonly failedCalls: Readonly<Record<string, number>>;
  readonly reconciles: Readonly<Record<string, number>>;
}

export interface SamplesDependencies {
  readonly totals: () => Promise<Totals>;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface NumberedSample {
  readonly number: number;
  readonly sample: Sample;
}

const EVERY_MS = 5000;

/** Ten minutes of them: whoever comes later sees some of what was before. */
const KEPT = 120;

/** Points of the plots, made while somebody looks. */
export class Samples {
  readonly #deps: SamplesDependencies;
  readonly #readers = new Set<() => void>();
  #samples: NumberedSample[] = [];
  #next = 0;
  #before: { readonly totals: Totals; readonly atMs: number } | undefined;
  #timer: Timer | undefined;

  constructor(dependencies: SamplesDependencies) {
    this.#deps = dependencies;
  }

  /** Number of the oldest that is kept. */
  get first(): number {
    return this.#samples[0]?.number ?? this.#next;
  }

  /** The one of that number, or the oldest that is kept; undefined: not made yet. */
  at(number: number): NumberedSample | undefined {
    return this.#samples[Math.max(0, number - this.first)];
  }

  /** Somebody looks; `wake` is called with each new one. Answers how to end that. */
  open(wake: () => void): () => void {
    this.#readers.add(wake);
    if (this.#timer === undefined) this.#look(0);
    return () => {
      this.#readers.delete(wake);
      if (this.#readers.size > 0) return;
      this.#timer?.cancel();
      this.#timer = undefined;
      this.#before = undefined;
      this.#samples = [];
    };
  }

  #look(inMs: number): void {
    this.#timer = this.#deps.clock.schedule(inMs, () => {
      this.#look(EVERY_MS);
      void this.#take().catch((error: unknown) => {
        this.#deps.log.error("Could not sample metrics for the status page: internal error", { err: error });
      });
    });
  }

  async #take(): Promise<void> {
    const { totals, clock } = this.#deps;
    const now = { totals: await totals(), atMs: clock.monotonicMs() };
    if (this.#timer === undefined) return;
    const before = this.#before;
    this.#before = now;
    if (before === undefined) return;
    const sample = sampleOf(before.totals, now.totals, now.atMs - before.atMs, clock.nowMs());
    this.#samples.push({ number: this.#next++, sample });
    if (this.#samples.length > KEPT) this.#samples.shift();
    for (const wake of this.#readers) wake();
  }
}

/** `durationMs` lie between the two, and `nowMs` is wall clock. */
export function sampleOf(before: Totals, now: Totals, durationMs: number, nowMs: number): Sample {
  const rates = (kind: keyof Totals): Readonly<Record<string, number>> =>
    Object.fromEntries(
      Object.entries(now[kind]).map(([name, total]) => [
        name,
        perSecond(total - (before[kind][name] ?? 0), durationMs),
      ]),
    );
  return {
    time: iso(nowMs),
    callsPerSecond: rates("calls"),
    failedCallsPerSecond: rates("failedCalls"),
    reconcilesPerSecond: rates("reconciles"),
  };
}

function perSecond(count: number, durationMs: number): number {
  return Math.round((count * 100_000) / durationMs) / 100;
}
