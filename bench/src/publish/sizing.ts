import { CLOUDWIRE } from "../compare/peers/names.ts";
import { measurementsOf, type Measurements, type Result } from "../compare/report/results.ts";
import { markdownTable } from "../lib/markdown-table.ts";
import { median } from "../lib/statistics.ts";
import { between } from "./page.ts";

type Column = readonly [title: string, of: (result: Result, measurements: Measurements) => string];

const count = (value: number | undefined): string => (value === undefined ? "" : String(Math.round(value)));
const perSecond = ({ apiWrites, seconds }: Measurements): string =>
  apiWrites === undefined || seconds === undefined ? "" : String(Math.round(apiWrites / seconds));

const NODES: Column = ["Nodes", ({ sizes }) => count(sizes.nodes)];
const SERVICES: Column = ["Services", ({ sizes }) => count(sizes.services)];
const CPU: Column = ["CPU seconds of both", (_, { cpuSeconds }) => cpuSeconds?.toFixed(1) ?? ""];
const CLOUD: Column = ["calls of the cloud", (_, { cloudCalls }) => count(cloudCalls)];
const MEMORY: readonly Column[] = [
  ["controller, MiB", (_, { controllerRssMiB }) => count(controllerRssMiB)],
  ["controller and provider, MiB", (_, { rssMiB }) => count(rssMiB)],
  ["most of both, MiB", (_, { peakRssMiB }) => count(peakRssMiB)],
];

/** The columns of each table, by scenario. */
const PARTS: Readonly<Record<string, { readonly scenario: string; readonly columns: readonly Column[] }>> = {
  nodes: {
    scenario: "initialize",
    columns: [
      NODES,
      ...MEMORY,
      CPU,
      CLOUD,
      ["writes to the API server", (_, { apiWrites }) => count(apiWrites)],
      ["writes a second", (_, measurements) => perSecond(measurements)],
    ],
  },
  services: { scenario: "services", columns: [SERVICES, ...MEMORY, CPU, CLOUD] },
  restart: {
    scenario: "restart",
    columns: [
      NODES,
      SERVICES,
      ["seconds", (_, { seconds }) => seconds?.toFixed(1) ?? ""],
      ...MEMORY.slice(2),
      CLOUD,
      ["changes in the cloud", (_, { cloudChanges }) => count(cloudChanges)],
    ],
  },
  steady: {
    scenario: "steady",
    columns: [
      NODES,
      SERVICES,
      ["seconds", ({ sizes }) => count(sizes.steadySeconds)],
      ...MEMORY.slice(0, 2),
      CPU,
      CLOUD,
      ["writes to the API server", (_, { apiWrites }) => count(apiWrites)],
    ],
  },
};

/** The sizing page with the tables of these results. */
export function sizingPage(page: string, results: readonly Result[]): string {
  return Object.entries(PARTS).reduce(
    (text, [name, { scenario, columns }]) => between(text, name, tableOf(columns, measured(results, scenario))),
    page,
  );
}

function tableOf(columns: readonly Column[], results: readonly Result[]): string {
  const rows = results.map((result) => columns.map(([, of]) => of(result, measurementsOf(result))));
  return results.length === 0 ? "" : markdownTable([columns.map(([title]) => title), ...rows]);
}

/** Ours, one of each size, from the smallest on; of several rounds the median one by memory. */
function measured(results: readonly Result[], wanted: string): readonly Result[] {
  const ours = results.filter(
    ({ scenario, peer, kind }) => scenario === wanted && peer === CLOUDWIRE && kind === "measured",
  );
  const bySize = Map.groupBy(ours, ({ sizes }) => (sizes.nodes ?? 0) * 1_000_000 + (sizes.services ?? 0));
  return [...bySize]
    .toSorted(([left], [right]) => left - right)
    .flatMap(([, rounds]) => {
      const middle = median(rounds.map((round) => measurementsOf(round).rssMiB ?? 0));
      const byDistance = rounds.toSorted((left, right) => distance(left, middle) - distance(right, middle));
      return byDistance.slice(0, 1);
    });
}

const distance = (result: Result, rssMiB: number): number => Math.abs((measurementsOf(result).rssMiB ?? 0) - rssMiB);
