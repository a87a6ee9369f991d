import { readFile } from "node:fs/promises";

/** What the controller's series are known by, in alerts and dashboards too. */
export const JOB = "cloud-controller-manager";

export const RECORDING_FILE = new URL("recording.json", import.meta.url);

/** Metrics of a real run, with faults on the way. */
export interface Recording {
  readonly stepSeconds: number;
  /** When each phase began, in seconds from the start, in order. */
  readonly phases: Readonly<Record<string, number>>;
  /** In Prometheus' notation. */
  readonly series: Readonly<Record<string, string>>;
}

export async function readRecording(): Promise<Recording> {
  const recording: Recording = JSON.parse(await readFile(RECORDING_FILE, "utf8"));
  return recording;
}
