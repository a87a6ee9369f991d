import { readFile } from "node:fs/promises";
import { fromNotation } from "./series-notation.ts";

/** Value of the label job, as in alerts and dashboards. */
export const JOB = "cloud-controller-manager";

export const RECORDING_FILE = new URL("recording.json", import.meta.url);

/** Metrics of a real run with injected faults. */
export interface Recording {
  readonly stepSeconds: number;
  /** Start of each phase in seconds, in order. */
  readonly phases: Readonly<Record<string, number>>;
  /** In Prometheus' notation. */
  readonly series: Readonly<Record<string, string>>;
}

export async function readRecording(): Promise<Recording> {
  const recording: Recording = JSON.parse(await readFile(RECORDING_FILE, "utf8"));
  return recording;
}

/** Duration in seconds. */
export function lengthOf({ series, stepSeconds }: Recording): number {
  return Math.max(...Object.values(series).map((values) => (fromNotation(values).length - 1) * stepSeconds));
}

/** Expected alerts, by the second of the recording. */
export type Firing = ReadonlyMap<number, readonly string[]>;

/** A file for `promtool test rules` with the series of the recording. */
export function playedBack(recording: Recording, rules: string, firing: Firing): object {
  const { series, stepSeconds } = recording;
  const steps = lengthOf(recording) / stepSeconds + 1;
  return {
    rule_files: [rules],
    evaluation_interval: `${stepSeconds}s`,
    tests: [
      {
        interval: `${stepSeconds}s`,
        input_series: Object.entries(series).map(([id, values]) => ({ series: id, values: withEnds(values, steps) })),
        promql_expr_test: [...firing].map(([second, names]) => ({
          expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: `${second}s`,
          exp_samples: names.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
        })),
      },
    ],
  };
}

/** Prometheus marks the end of a series that is no longer exposed; otherwise its last value would hold for five minutes. */
function withEnds(values: string, steps: number): string {
  const marked = values.replaceAll(/ _(?:x(\d+))?/g, (_all, count = "1") =>
    count === "1" ? " stale" : ` stale _x${Number(count) - 1}`,
  );
  return fromNotation(values).length < steps ? `${marked} stale` : marked;
}

/** The recording as OpenMetrics, with timestamps from `startSeconds`. */
export function openMetrics({ series, stepSeconds }: Recording, startSeconds: number): string {
  const lines = Object.entries(series).flatMap(([id, values]) =>
    fromNotation(values).flatMap((value, step) =>
      value === undefined ? [] : [`${id} ${value} ${startSeconds + step * stepSeconds}`],
    ),
  );
  return [...lines, "# EOF", ""].join("\n");
}
