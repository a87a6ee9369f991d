import { setTimeout as wait } from "node:timers/promises";
import { type ProcessMeasurements, readProcessMeasurements } from "../lib/process.ts";
import type { Point } from "../lib/statistics.ts";
import type { Site } from "./site.ts";

const EVERY_MS = 5000;
const METRICS_MS = 5000;

/** Both processes at one moment. A process that is just being started again has no measurements. */
export interface Sample {
  readonly seconds: number;
  readonly controller: ProcessMeasurements | undefined;
  /** In use in the controller's JavaScript heap. */
  readonly heapBytes: number | undefined;
  readonly sidecar: ProcessMeasurements | undefined;
}

export type Measure = Exclude<keyof ProcessMeasurements, "pid">;

const MEASURES: readonly Measure[] = ["rssBytes", "pssBytes", "privateBytes", "descriptors", "threads"];

/** Takes samples until the signal, and gives each away. */
export async function sampleUntil(site: Site, signal: AbortSignal, take: (sample: Sample) => void): Promise<void> {
  const startMs = performance.now();
  const health = await site.healthUrl();
  while (!signal.aborted) {
    const seconds = (performance.now() - startMs) / 1000;
    const [controller, sidecar, heapBytes] = await Promise.all([
      readProcessMeasurements(site.controller.pid),
      readProcessMeasurements(site.sidecarPid),
      readHeap(health),
    ]);
    take({ seconds, controller, sidecar, heapBytes });
    await wait(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Undefined when the controller does not answer in time: the next sample is soon. */
async function readHeap(health: string): Promise<number | undefined> {
  try {
    const answer = await fetch(`${health}/metrics`, { signal: AbortSignal.timeout(METRICS_MS) });
    const found = /^nodejs_heap_size_used_bytes (\S+)$/m.exec(await answer.text());
    return found === null ? undefined : Number(found[1]);
  } catch {
    return undefined;
  }
}

/** One line a sample, for spreadsheets. */
export function toCsv(samples: readonly Sample[]): string {
  const columns = (prefix: string): readonly string[] => [
    `${prefix}_pid`,
    ...MEASURES.map((name) => `${prefix}_${name}`),
  ];
  const values = (measurements: ProcessMeasurements | undefined): readonly (number | string)[] =>
    measurements === undefined
      ? ["", ...MEASURES.map(() => "")]
      : [measurements.pid, ...MEASURES.map((name) => measurements[name])];
  const header = ["seconds", ...columns("controller"), "controller_heapBytes", ...columns("sidecar")];
  const lines = samples.map(({ seconds, controller, heapBytes, sidecar }) =>
    [seconds.toFixed(1), ...values(controller), heapBytes ?? "", ...values(sidecar)].join(),
  );
  return [header.join(), ...lines, ""].join("\n");
}

export function heapPoints(samples: readonly Sample[]): readonly Point[] {
  return samples.flatMap(({ seconds, heapBytes }) => (heapBytes === undefined ? [] : [{ seconds, value: heapBytes }]));
}

/** Of the process with the longest life: a restarted one is another process. */
export function points(
  samples: readonly Sample[],
  process: "controller" | "sidecar",
  measure: Measure,
): readonly Point[] {
  const lives = Map.groupBy(
    samples.filter((sample) => sample[process] !== undefined),
    (sample) => sample[process]?.pid,
  );
  const [longest = []] = [...lives.values()].toSorted((left, right) => right.length - left.length);
  return longest.map((sample) => ({ seconds: sample.seconds, value: sample[process]?.[measure] ?? 0 }));
}
