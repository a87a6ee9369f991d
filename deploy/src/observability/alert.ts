/**
 * How soon somebody has to look: `critical` now, at night too; `warning` on a working day; `info` when there is time.
 */
export type Severity = "critical" | "warning" | "info";

/** An alert with what proves that it fires, stays silent and ends. */
export interface Alert {
  /** Also the name of its page in docs/runbooks. */
  readonly name: string;
  readonly severity: Severity;
  /** Minutes that it has to hold. */
  readonly forMinutes: number;
  /** PromQL. */
  readonly expr: string;
  /** One line, for a list of alerts. */
  readonly summary: string;
  /** What, where, and what to do first. */
  readonly description: string;
  readonly trial: Trial;
}

/** Series that are well, then at fault, then well again. */
export interface Trial {
  /** In Prometheus' notation, a value a minute; without the label `job`, which is put in. */
  readonly series: Readonly<Record<string, string>>;
  /** Minutes from which and to which the fault lasts. */
  readonly fault: readonly [from: number, to: number];
  /** Minutes that a window of the expression looks back. */
  readonly window?: number;
  /** Minute in which it fires for sure. Unless given, that follows from the others. */
  readonly firesAt?: number;
  /** Labels of the alert, without `job` and `severity`. */
  readonly labels: Readonly<Record<string, string>>;
  /** False where the expression keeps no label. */
  readonly hasJob?: false;
  /** What the description makes of its value. */
  readonly value?: string;
}

export interface AlertGroup {
  readonly name: string;
  /** What its alerts are about, for the reference page. */
  readonly title: string;
  readonly alerts: readonly Alert[];
}

/** What Prometheus calls the scrape of the controller; the chart may put another in its place. */
export const JOB = "cloud-controller-manager";

/** The same as a matcher. */
export const OF_JOB = `job="${JOB}"`;

type Stretch = readonly [value: number, minutes: number];

/** A gauge: each value for so many minutes. */
export function gauge(...stretches: readonly Stretch[]): string {
  return stretches.map(([value, minutes]) => `${value}+0x${minutes - 1}`).join(" ");
}

/** A counter: so many more a minute, for so many minutes. */
export function counter(...stretches: readonly Stretch[]): string {
  const words: string[] = ["0"];
  let total = 0;
  for (const [more, minutes] of stretches) {
    words.push(`${total + more}+${more}x${minutes - 1}`);
    total += more * minutes;
  }
  return words.join(" ");
}
