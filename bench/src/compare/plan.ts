import { CLOUDWIRE, RAW_WRITER, UPSTREAM_TUNED } from "./peers/names.ts";
import { groupOf, type Result, type Run } from "./report/results.ts";
import type { Scenario, Size, Sizes } from "./scenarios/scenario.ts";

export interface PlanOptions {
  readonly scenarios: readonly string[];
  /** Undefined: in each scenario the peers of its goals. */
  readonly peers: readonly string[] | undefined;
  /** Instead of a scenario's own. */
  readonly sizes: Sizes;
  readonly rounds: number;
  /** How cost grows, instead of the goals. */
  readonly growth: boolean;
}

interface Group {
  readonly scenario: Scenario;
  readonly sizes: Sizes;
  readonly peers: readonly string[];
}

/** Additional sizes for goals about memory and the event loop. */
const FURTHER_GOALS = { scenario: "initialize", size: "nodes", values: [1000, 15_000] } as const;

/** Sizes of the plots. */
const GROWTH = [
  { scenario: "initialize", size: "nodes", values: [1000, 5000, 15_000] },
  { scenario: "services", size: "services", values: [10, 100, 1000] },
] as const;

/** All measurements in order: by round, then by scenario, with a different order of peers in each. */
export function planOf(scenarios: readonly Scenario[], options: PlanOptions): readonly Run[] {
  const groups = unique(options.growth ? growthGroups(scenarios, options) : goalGroups(scenarios, options));
  return Array.from({ length: options.rounds }, (_, round) =>
    groups.flatMap(({ scenario, sizes, peers }) =>
      rotated(peers, round).map((peer) => ({ scenario: scenario.name, sizes, peer, round })),
    ),
  ).flat();
}

/** Those that the file does not have yet. What failed is tried again. */
export function missingRuns(runs: readonly Run[], results: readonly Result[]): readonly Run[] {
  const there = new Set(results.filter(({ kind }) => kind !== "failed").map(keyOf));
  return runs.filter((run) => !there.has(keyOf(run)));
}

/** The results with this one, in place of an earlier one of the same run. */
export function withResult(results: readonly Result[], result: Result): readonly Result[] {
  return [...results.filter((earlier) => keyOf(earlier) !== keyOf(result)), result];
}

function goalGroups(scenarios: readonly Scenario[], options: PlanOptions): readonly Group[] {
  return scenarios
    .filter(({ name }) => options.scenarios.includes(name))
    .flatMap((scenario) => {
      const own = groupAt(scenario, {}, options, scenario.peers);
      // A given size replaces all others.
      if (scenario.name !== FURTHER_GOALS.scenario || options.sizes[FURTHER_GOALS.size] !== undefined) return [own];
      const further = FURTHER_GOALS.values.map((value) =>
        groupAt(scenario, { [FURTHER_GOALS.size]: value }, options, [CLOUDWIRE, UPSTREAM_TUNED]),
      );
      return [own, ...further];
    });
}

function growthGroups(scenarios: readonly Scenario[], options: PlanOptions): readonly Group[] {
  return GROWTH.flatMap(({ scenario: name, size, values }) =>
    scenarios
      .filter((scenario) => scenario.name === name && options.scenarios.includes(name))
      .flatMap((scenario) => {
        const peers = [CLOUDWIRE, UPSTREAM_TUNED, ...(scenario.hasRawWriter === true ? [RAW_WRITER] : [])];
        return values.map((value) => groupAt(scenario, { [size]: value }, options, peers));
      }),
  );
}

/** @param at sizes that are not the scenario's own */
function groupAt(scenario: Scenario, at: Sizes, options: PlanOptions, defaults: readonly string[]): Group {
  const wanted = { ...scenario.sizes, ...at, ...options.sizes };
  const sizes = Object.fromEntries(sizeNames(scenario.sizes).map((size) => [size, wanted[size]]));
  const able = (peer: string): boolean => peer !== RAW_WRITER || scenario.hasRawWriter === true;
  return { scenario, sizes, peers: (options.peers ?? defaults).filter(able) };
}

function sizeNames(sizes: Sizes): readonly Size[] {
  const all: readonly Size[] = ["nodes", "services", "joining", "steadySeconds"];
  return all.filter((size) => sizes[size] !== undefined);
}

function unique(groups: readonly Group[]): readonly Group[] {
  return [...new Map(groups.map((group) => [groupKey(group), group])).values()];
}

function groupKey({ scenario, sizes }: Group): string {
  return groupOf({ scenario: scenario.name, sizes });
}

function keyOf(run: Run): string {
  return `${groupOf(run)} ${run.peer} ${run.round}`;
}

/** Each round begins with another one, so that none is always the first on a machine that is still cold. */
function rotated<Item>(items: readonly Item[], round: number): readonly Item[] {
  const from = round % Math.max(1, items.length);
  return [...items.slice(from), ...items.slice(0, from)];
}
