import { markdownTable } from "../../lib/markdown-table.ts";
import { median } from "../../lib/statistics.ts";
import type { Sizes } from "../scenarios/scenario.ts";

/** The measures with their titles, in the order of the tables. */
export const MEASURES = {
  seconds: "seconds",
  cpuSeconds: "CPU seconds",
  controllerRssMiB: "RSS of the controller, MiB",
  rssMiB: "RSS of all, MiB",
  pssMiB: "PSS of all, MiB",
  peakRssMiB: "most RSS of all, MiB",
  cloudCalls: "calls of the cloud",
  cloudChanges: "changes in the cloud",
  apiWrites: "writes to the API server",
  events: "events",
  eventLoopP99Ms: "event loop late, p99, ms",
  healthP99Ms: "health answered in, p99, ms",
  healthWorstMs: "health answered in, worst, ms",
} as const;

export type Measure = keyof typeof MEASURES;

export const MEASURE_NAMES: readonly Measure[] = [
  "seconds",
  "cpuSeconds",
  "controllerRssMiB",
  "rssMiB",
  "pssMiB",
  "peakRssMiB",
  "cloudCalls",
  "cloudChanges",
  "apiWrites",
  "events",
  "eventLoopP99Ms",
  "healthP99Ms",
  "healthWorstMs",
];

/** A missing measure does not exist for the peer, or was not measured. */
export type Measurements = Readonly<Partial<Record<Measure, number>>>;

/** One measurement: a peer, a scenario, a round. */
export interface Run {
  readonly scenario: string;
  /** Those that the scenario depends on, and no others. */
  readonly sizes: Sizes;
  readonly peer: string;
  /** From 0. */
  readonly round: number;
}

export type Result = Run &
  (
    | { readonly kind: "measured"; readonly measurements: Measurements }
    /** The timeout ended after this share of the work: only the seconds are reported, extrapolated linearly. */
    | { readonly kind: "projected"; readonly share: number; readonly measurements: Pick<Measurements, "seconds"> }
    | { readonly kind: "failed"; readonly reason: string }
  );

/** Empty for a failed result. */
export function measurementsOf(result: Result): Measurements {
  return result.kind === "failed" ? {} : result.measurements;
}

/** The extrapolated result of a measurement that timed out. */
export function projected(run: Run, { seconds, share }: { readonly seconds: number; readonly share: number }): Result {
  if (share <= 0) {
    const reason = `in ${seconds.toFixed(0)} s nothing was done; give it more --patience`;
    return { ...run, kind: "failed", reason };
  }
  return { ...run, kind: "projected", share, measurements: { seconds: seconds / share } };
}

/** The same for the same scenario and sizes. */
export function groupOf({ scenario, sizes }: Pick<Run, "scenario" | "sizes">): string {
  const parts = Object.entries(sizes).map(([size, value]) => `${size}=${value}`);
  return [scenario, ...parts.toSorted()].join(" ");
}

/** Median of the rounds, with the least and the most. */
interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** The peer's measurements of all rounds that have one. */
export function valuesOf(results: readonly Result[], peer: string, measure: Measure): readonly number[] {
  return results
    .filter((result) => result.peer === peer)
    .flatMap((result) => {
      const value = measurementsOf(result)[measure];
      return value === undefined ? [] : [value];
    });
}

/** Of each round: how often the base's figure fits into the peer's. Rounds that one of them lacks are left out. */
export function ratios(results: readonly Result[], peer: string, base: string, measure: Measure): readonly number[] {
  const ofBase = new Map(
    results.filter((result) => result.peer === base).map((result) => [result.round, measurementsOf(result)[measure]]),
  );
  return results
    .filter((result) => result.peer === peer)
    .flatMap((result) => {
      const value = measurementsOf(result)[measure];
      const divisor = ofBase.get(result.round) ?? 0;
      return divisor === 0 || value === undefined ? [] : [value / divisor];
    });
}

/**
 * The table of one scenario at one size, in Markdown: a row a measure, a column a peer, and how many times the base's figure it is.
 * Below it stands what failed and what was not measured to its end.
 */
export function tableOf(results: readonly Result[], base: string): string {
  const peers = [...new Set(results.map(({ peer }) => peer))].toSorted(
    (left, right) => Number(right === base) - Number(left === base),
  );
  const header = ["", ...peers.flatMap((peer) => (peer === base ? [peer] : [peer, `÷ ${base}`]))];
  const rows = MEASURE_NAMES.filter((measure) => peers.some((peer) => valuesOf(results, peer, measure).length > 0)).map(
    (measure) => {
      const cells = peers.flatMap((peer) => {
        const figure = format(valuesOf(results, peer, measure));
        return peer === base ? [figure] : [figure, format(ratios(results, peer, base, measure), "×")];
      });
      return [MEASURES[measure], ...cells];
    },
  );
  return [markdownTable([header, ...rows]), ...notesOn(results)].join("\n\n");
}

function notesOn(results: readonly Result[]): readonly string[] {
  return results.flatMap((result) => {
    const who = `${result.peer}, round ${result.round + 1}`;
    switch (result.kind) {
      case "measured":
        return [];
      case "projected":
        return [`${who}: projected from the first ${(result.share * 100).toFixed(0)} % of the work.`];
      case "failed":
        return [`${who}: FAILED: ${result.reason.split("\n")[0] ?? ""}`];
      default:
        return result satisfies never;
    }
  });
}

function format(values: readonly number[], unit = ""): string {
  if (values.length === 0) return "";
  const { median: middle, min, max } = spreadOf(values);
  const one = (value: number): string => `${round(value)}${unit}`;
  return min === max ? one(middle) : `${one(middle)} (${one(min)}–${one(max)})`;
}

/** Three digits that say something. */
function round(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 100) return value.toFixed(0);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
