import type { Sample } from "@cloudwire/operator-api";
import type { Logger } from "../../telemetry/log.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { iso } from "../../util/text.ts";

/** Counters by provider or controller. */
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

/** Ten minutes, for clients that connect later. */
const KEPT = 120;

/** Points of the plots, made while there are readers. */
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

  /** Number of the oldest kept sample. */
  get first(): number {
    return this.#samples[0]?.number ?? this.#next;
  }

  /** The sample of that number, or the oldest; undefined: not made yet. */
  at(number: number): NumberedSample | undefined {
    return this.#samples[Math.max(0, number - this.first)];
  }

  /** `wake` is called after each new sample. Returns a function that closes the reader. */
  open(wake: () => void): () => void {
    this.#readers.add(wake);
    if (this.#timer === undefined) this.#schedule(0);
    return () => {
      this.#readers.delete(wake);
      if (this.#readers.size > 0) return;
      this.#timer?.cancel();
      this.#timer = undefined;
      this.#before = undefined;
      this.#samples = [];
    };
  }

  #schedule(inMs: number): void {
    this.#timer = this.#deps.clock.schedule(inMs, () => {
      this.#schedule(EVERY_MS);
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

/** @param durationMs between the two @param nowMs wall clock */
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
