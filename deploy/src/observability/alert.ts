/** `critical`: needs attention now, at night as well; `warning`: on a working day; `info`: when there is time. */
export type Severity = "critical" | "warning" | "info";

/** An alert with a trial that proves that it fires, stays silent and ends. */
export interface Alert {
  /** Also the name of its runbook in docs/runbooks. */
  readonly name: string;
  readonly severity: Severity;
  /** Prometheus' `for`. */
  readonly forMinutes: number;
  /** PromQL. */
  readonly expr: string;
  /** One line, for a list of alerts. */
  readonly summary: string;
  /** What happened, where, and what to do first. */
  readonly description: string;
  readonly trial: Trial;
}

/** Series that are normal, then at fault, then normal again. */
export interface Trial {
  /** In Prometheus' notation, one value per minute, without the label `job`. */
  readonly series: Readonly<Record<string, string>>;
  /** Minutes of the start and the end of the fault. */
  readonly fault: readonly [from: number, to: number];
  /** Minutes of a range in the expression. */
  readonly window?: number;
  /** Minute in which it fires. @default derived from the other fields */
  readonly firesAt?: number;
  /** Labels of the alert, without `job` and `severity`. */
  readonly labels: Readonly<Record<string, string>>;
  /** False where the expression keeps no label. */
  readonly hasJob?: false;
  /** The rendered value in the description. */
  readonly value?: string;
}

export interface AlertGroup {
  readonly name: string;
  /** For the reference page. */
  readonly title: string;
  readonly alerts: readonly Alert[];
}

/** Prometheus' job of the controller; the chart can replace it. */
export const JOB = "cloud-controller-manager";

/** The same as a matcher. */
export const OF_JOB = `job="${JOB}"`;

type Stretch = readonly [value: number, minutes: number];

/** A gauge with each value for a number of minutes. */
export function gauge(...stretches: readonly Stretch[]): string {
  return stretches.map(([value, minutes]) => `${value}+0x${minutes - 1}`).join(" ");
}

/** A counter with each increase per minute for a number of minutes. */
export function counter(...stretches: readonly Stretch[]): string {
  const words: string[] = ["0"];
  let total = 0;
  for (const [more, minutes] of stretches) {
    words.push(`${total + more}+${more}x${minutes - 1}`);
    total += more * minutes;
  }
  return words.join(" ");
}
