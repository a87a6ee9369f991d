import { CLOUDWIRE, RAW_WRITER, UPSTREAM_TUNED } from "../compare/peers/names.ts";
import { type Measure, type Result, valuesOf } from "../compare/report/results.ts";
import type { Size } from "../compare/scenarios/scenario.ts";
import { median } from "../lib/statistics.ts";
import { type Chart, type ChartPoint, lineChart } from "./chart.ts";

interface Plot {
  readonly file: string;
  readonly title: string;
  readonly scenario: string;
  readonly by: Size;
  readonly lines: readonly (readonly [label: string, peer: string, measure: Measure])[];
}

const PEERS = [CLOUDWIRE, UPSTREAM_TUNED, RAW_WRITER] as const;

const all = (measure: Measure): Plot["lines"] => PEERS.map((peer) => [peer, peer, measure]);

const PLOTS: readonly Plot[] = [
  {
    file: "performance-seconds.svg",
    title: "Seconds until all nodes are initialized",
    scenario: "initialize",
    by: "nodes",
    lines: all("seconds"),
  },
  {
    file: "performance-cpu.svg",
    title: "CPU seconds until all nodes are initialized",
    scenario: "initialize",
    by: "nodes",
    lines: all("cpuSeconds"),
  },
  {
    file: "performance-memory.svg",
    title: "Memory (RSS, MiB) once all nodes are initialized",
    scenario: "initialize",
    by: "nodes",
    lines: [
      [`${CLOUDWIRE}, both`, CLOUDWIRE, "rssMiB"],
      [UPSTREAM_TUNED, UPSTREAM_TUNED, "rssMiB"],
      [`${CLOUDWIRE}'s controller`, CLOUDWIRE, "controllerRssMiB"],
    ],
  },
  {
    file: "performance-cloud-calls.svg",
    title: "Calls of the cloud to initialize all nodes",
    scenario: "initialize",
    by: "nodes",
    lines: all("cloudCalls"),
  },
  {
    file: "performance-services.svg",
    title: "Seconds until all Services have an address",
    scenario: "services",
    by: "services",
    lines: all("seconds"),
  },
];

/** A drawing and its description. */
export interface Drawing {
  readonly title: string;
  readonly svg: string;
}

/** Plots of the growth by file name. Measures with fewer than two sizes have no plot. */
export function plotsOf(results: readonly Result[]): ReadonlyMap<string, Drawing> {
  return new Map(
    PLOTS.flatMap((plot) => {
      const chart = chartOf(plot, results);
      return chart.series.length === 0 ? [] : [[plot.file, { title: plot.title, svg: lineChart(chart) }] as const];
    }),
  );
}

function chartOf({ title, scenario, by, lines }: Plot, results: readonly Result[]): Chart {
  const own = results.filter((result) => result.scenario === scenario);
  const series = lines.map(([label, peer, measure]) => ({ label, points: pointsOf(own, by, peer, measure) }));
  return {
    title,
    xTitle: by === "services" ? "Services" : by,
    series: series.filter(({ points }) => points.length > 1),
  };
}

/** The medians of the rounds. A logarithmic axis has no place for nothing. */
function pointsOf(results: readonly Result[], by: Size, peer: string, measure: Measure): readonly ChartPoint[] {
  const sizes = [...new Set(results.flatMap(({ sizes: { [by]: size } }) => (size === undefined ? [] : [size])))];
  return sizes
    .toSorted((left, right) => left - right)
    .map((x) => {
      const atSize = results.filter((result) => result.sizes[by] === x);
      return { x, y: median(valuesOf(atSize, peer, measure)) };
    })
    .filter(({ y }) => y > 0);
}
