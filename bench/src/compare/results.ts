import { markdownTable } from "../lib/markdown-table.ts";
import { median } from "../lib/statistics.ts";

/** What one peer needed for one scenario in one round. */
export interface Result {
  readonly scenario: string;
  readonly peer: string;
  readonly round: number;
  readonly figures: Readonly<Record<Measure, number>>;
}

export type Measure =
  | "seconds"
  | "cpuSeconds"
  | "controllerRssMiB"
  | "rssMiB"
  | "peakRssMiB"
  | "cloudCalls"
  | "cloudChanges"
  | "apiWrites"
  | "events";

const TITLES: readonly (readonly [Measure, string])[] = [
  ["seconds", "seconds"],
  ["cpuSeconds", "CPU seconds"],
  ["controllerRssMiB", "RSS of the controller, MiB"],
  ["rssMiB", "RSS of all, MiB"],
  ["peakRssMiB", "most RSS of all, MiB"],
  ["cloudCalls", "calls of the cloud"],
  ["cloudChanges", "changes at the cloud"],
  ["apiWrites", "writes to the API server"],
  ["events", "events"],
];

/** Median of the rounds, with the least and the most. */
interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Of each round: how often the base's figure fits into the peer's. Rounds that one of them lacks are left out. */
export function ratios(results: readonly Result[], peer: string, base: string, measure: Measure): readonly number[] {
  const ofBase = new Map(
    results.filter((result) => result.peer === base).map(({ round, figures }) => [round, figures]),
  );
  return results
    .filter((result) => result.peer === peer)
    .flatMap(({ round, figures }) => {
      const divisor = ofBase.get(round)?.[measure] ?? 0;
      return divisor === 0 ? [] : [figures[measure] / divisor];
    });
}

/** The table of one scenario, in Markdown: a row a measure, a column a peer, and how many times the base's figure it is. */
export function tableOf(results: readonly Result[], base: string): string {
  const peers = [...new Set(results.map(({ peer }) => peer))].toSorted(
    (left, right) => Number(right === base) - Number(left === base),
  );
  const header = ["", ...peers.flatMap((peer) => (peer === base ? [peer] : [peer, `÷ ${base}`]))];
  const rows = TITLES.map(([measure, title]) => {
    const cells = peers.flatMap((peer) => {
      const own = results.filter((result) => result.peer === peer).map(({ figures }) => figures[measure]);
      const figure = format(spreadOf(own));
      if (peer === base) return [figure];
      const times = ratios(results, peer, base, measure);
      return [figure, times.length === 0 ? "" : format(spreadOf(times), "×")];
    });
    return [title, ...cells];
  });
  return markdownTable([header, ...rows]);
}

function format({ median, min, max }: Spread, unit = ""): string {
  const one = (value: number): string => `${round(value)}${unit}`;
  return min === max ? one(median) : `${one(median)} (${one(min)}–${one(max)})`;
}

/** Three digits that say something. */
function round(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 100) return value.toFixed(0);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
