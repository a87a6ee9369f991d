import type { Panel, Query, Threshold, Unit, Variable } from "./dashboard.ts";

/** Of the controller that is looked at. */
export const JOB = 'job="$job"';

/** Of the replicas that are looked at. */
export const REPLICAS = `${JOB},instance=~"$instance"`;

const RATE = "[$__rate_interval]";

export const JOB_VARIABLE: Variable = {
  name: "job",
  label: "Job",
  query: "label_values(cloudwire_events_waiting, job)",
  isMulti: false,
};

export function ratesBy(label: string, counter: string, of: string): string {
  return `sum by (${label}) (rate(${counter}{${of}}${RATE}))`;
}

/** That so large a share was not above. */
export function quantileBy(share: number, label: string, histogram: string, of: string): string {
  return `histogram_quantile(${share}, ${ratesBy(`${label}, le`, `${histogram}_bucket`, of)})`;
}

/** 0 is well, anything above is not. */
export const ANY_IS_BAD: readonly Threshold[] = [{ from: 1, color: "red" }];

export const SOME_IS_ODD: readonly Threshold[] = [{ from: 1, color: "orange" }];

/** 0 is bad. */
export const NONE_IS_BAD: readonly Threshold[] = [{ from: 1, color: "green" }];

type Heading = readonly [title: string, description: string];

export function stat(
  [title, description]: Heading,
  query: string | Query,
  thresholds: readonly Threshold[] = [],
  unit: Unit = "short",
): Panel {
  const queries = [typeof query === "string" ? { expr: query, legend: title } : query];
  return { kind: "stat", title, description, unit, queries, thresholds };
}

/** Shows the names of the series. */
export function names(heading: Heading, query: Query): Panel {
  return { ...stat(heading, query), showsNames: true };
}

export function lines([title, description]: Heading, unit: Unit, ...queries: readonly Query[]): Panel {
  return { kind: "timeseries", title, description, unit, queries };
}

/** Lines that add up. */
export function areas(heading: Heading, unit: Unit, ...queries: readonly Query[]): Panel {
  return { ...lines(heading, unit, ...queries), isStacked: true };
}
