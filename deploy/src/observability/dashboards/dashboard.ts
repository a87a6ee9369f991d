/** Units of Grafana that are used here. */
export type Unit = "short" | "s" | "bytes" | "percentunit" | "ops" | "reqps" | "dtdurations";

export interface Query {
  /** PromQL, with Grafana's variables. */
  readonly expr: string;
  /** What a series is called: labels in double braces, or a word. */
  readonly legend: string;
}

/** How a number of a stat is colored: from this value on. */
export interface Threshold {
  readonly from: number;
  readonly color: "green" | "orange" | "red";
}

export interface Panel {
  /** `stat`: the last value, large. `timeseries`: its course. */
  readonly kind: "stat" | "timeseries";
  readonly title: string;
  /** What the panel shows, and which values need attention. */
  readonly description: string;
  readonly unit: Unit;
  readonly queries: readonly Query[];
  /** Of stats: the names of the series, and not their values. */
  readonly showsNames?: true;
  /** Of stats. Below the first: green, or red where another is green. */
  readonly thresholds?: readonly Threshold[];
  /** Lines on top of each other, for what adds up. */
  readonly isStacked?: true;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Variable {
  readonly name: string;
  readonly label: string;
  /** PromQL of Grafana's own kind. */
  readonly query: string;
  /** Several may be chosen, and all are at first. */
  readonly isMulti: boolean;
}

export interface Dashboard {
  /** Never changes: links lead to it. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
}
