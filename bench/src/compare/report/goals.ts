import { median } from "../../lib/statistics.ts";
import { CLOUDWIRE, RAW_WRITER, UPSTREAM, UPSTREAM_TUNED } from "../peers/names.ts";
import { groupOf, type Measure, ratios, type Result, valuesOf } from "./results.ts";
import { type Scenario, type Size, type Sizes, sizeOf } from "../scenarios/scenario.ts";

/** A goal and how it stands. */
export interface GoalResult {
  readonly goal: string;
  /** Sizes at which it was measured; empty when it was not. */
  readonly at: string;
  readonly wanted: string;
  readonly got: string;
  readonly kind: "pass" | "fail" | "notMeasured";
}

interface Goal {
  readonly goal: string;
  readonly scenario: string;
  /** Undefined when the runs have not shown it. */
  readonly value: (results: readonly Result[], sizes: Sizes) => number | undefined;
  readonly atLeast?: number;
  readonly atMost?: number;
  /** Applies to clusters of exactly this size; otherwise to the scenario's own sizes or their overrides. */
  readonly nodes?: number;
}

type Value = Goal["value"];

/** How many times one peer's figure the other's is, by the median of the rounds. */
const ratio =
  (peer: string, base: string, measure: Measure): Value =>
  (results) =>
    medianOf(ratios(results, peer, base, measure));

/** How many times Cloudwire's figure the peer's is. */
const times = (peer: string, measure: Measure): Value => ratio(peer, CLOUDWIRE, measure);

/** How many times the peer's figure Cloudwire's is. */
const share = (peer: string, measure: Measure): Value => ratio(CLOUDWIRE, peer, measure);

const own =
  (measure: Measure): Value =>
  (results) =>
    medianOf(valuesOf(results, CLOUDWIRE, measure));

/** Cloudwire's value divided by the number of objects. */
const each =
  (of: Size, measure: Measure): Value =>
  (results, sizes) => {
    const figure = own(measure)(results, sizes);
    return figure === undefined ? undefined : figure / sizeOf(sizes, of);
  };

/** Allowance for writes that occur once per cluster, such as the leadership event. */
const ONCE = 0.01;

/** Goals for memory and response times, at separate sizes. */
const LARGE_GOALS: readonly Goal[] = [
  ...(
    [
      [5000, 0.5],
      [15_000, 0.3],
    ] as const
  ).map(([nodes, atMost]) => ({
    scenario: "initialize",
    goal: "RSS of the controller, of upstream's",
    value: share(UPSTREAM_TUNED, "controllerRssMiB"),
    atMost,
    nodes,
  })),
  ...(["rssMiB", "pssMiB"] as const).flatMap((measure) =>
    (
      [
        [1000, 1],
        [5000, 1],
        [15_000, 0.5],
      ] as const
    ).map(([nodes, atMost]) => ({
      scenario: "initialize",
      goal: `${measure === "rssMiB" ? "RSS" : "PSS"} of controller and sidecar, of upstream's`,
      value: share(UPSTREAM_TUNED, measure),
      atMost,
      nodes,
    })),
  ),
  {
    scenario: "initialize",
    goal: "event loop late, p99, ms",
    value: own("eventLoopP99Ms"),
    atMost: 100,
    nodes: 15_000,
  },
  {
    scenario: "initialize",
    goal: "health answered in, p99, ms",
    value: own("healthP99Ms"),
    atMost: 200,
    nodes: 15_000,
  },
  {
    scenario: "initialize",
    goal: "health answered in, worst, ms",
    value: own("healthWorstMs"),
    atMost: 200,
    nodes: 15_000,
  },
];

const GOALS: readonly Goal[] = [
  { scenario: "initialize", goal: "faster than upstream tuned", value: times(UPSTREAM_TUNED, "seconds"), atLeast: 2 },
  { scenario: "initialize", goal: "faster than upstream", value: times(UPSTREAM, "seconds"), atLeast: 30 },
  { scenario: "initialize", goal: "time of raw writes", value: share(RAW_WRITER, "seconds"), atMost: 1.5 },
  {
    scenario: "initialize",
    goal: "calls of the cloud, of upstream's",
    value: share(UPSTREAM_TUNED, "cloudCalls"),
    atMost: 0.01,
  },
  { scenario: "initialize", goal: "writes a node", value: each("nodes", "apiWrites"), atMost: 2 + ONCE },
  { scenario: "initialize", goal: "events a node", value: each("nodes", "events"), atMost: 1 + ONCE },
  { scenario: "initialize", goal: "CPU, of upstream's", value: share(UPSTREAM_TUNED, "cpuSeconds"), atMost: 1 },
  ...LARGE_GOALS,
  {
    scenario: "steady",
    goal: "calls of the cloud at rest, of upstream's",
    value: share(UPSTREAM_TUNED, "cloudCalls"),
    atMost: 0.02,
  },
  { scenario: "steady", goal: "CPU at rest, of upstream's", value: share(UPSTREAM_TUNED, "cpuSeconds"), atMost: 1 },
  { scenario: "services", goal: "faster than upstream", value: times(UPSTREAM, "seconds"), atLeast: 10 },
  { scenario: "services", goal: "as fast as upstream tuned", value: times(UPSTREAM_TUNED, "seconds"), atLeast: 1 },
  { scenario: "restart", goal: "changes in the cloud", value: own("cloudChanges"), atMost: 0 },
  { scenario: "restart", goal: "time of upstream's", value: share(UPSTREAM_TUNED, "seconds"), atMost: 0.5 },
  { scenario: "join", goal: "changes a load balancer", value: each("services", "cloudChanges"), atMost: 3 },
  { scenario: "not-ready", goal: "faster than upstream", value: times(UPSTREAM_TUNED, "seconds"), atLeast: 20 },
];

/** Every goal of these scenarios, and whether the runs have reached it. */
export function goalResults(scenarios: readonly Scenario[], results: readonly Result[]): readonly GoalResult[] {
  return GOALS.flatMap((goal) => {
    const scenario = scenarios.find(({ name }) => name === goal.scenario);
    return scenario === undefined ? [] : [goalResult(goal, scenario, results)];
  });
}

function goalResult(goal: Goal, scenario: Scenario, results: readonly Result[]): GoalResult {
  const { atLeast, atMost } = goal;
  const group = groupFor(goal, scenario, results);
  const sizes = group[0]?.sizes ?? {};
  const got = goal.value(group, sizes);
  const about = {
    goal: `${scenario.name}: ${goal.goal}`,
    wanted: atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`,
  };
  if (got === undefined) {
    const at = goal.nodes === undefined ? "" : sizeText({ nodes: goal.nodes });
    return { ...about, at, got: "", kind: "notMeasured" };
  }
  const isReached = got >= (atLeast ?? Number.NEGATIVE_INFINITY) && got <= (atMost ?? Number.POSITIVE_INFINITY);
  return { ...about, at: sizeText(sizes), got: threeDigits(got), kind: isReached ? "pass" : "fail" };
}

/** Results of one size: the goal's, or else the scenario's own, or else the largest that was measured. */
function groupFor({ nodes }: Goal, scenario: Scenario, results: readonly Result[]): readonly Result[] {
  const groups = Map.groupBy(
    results.filter((result) => result.scenario === scenario.name),
    groupOf,
  );
  const at = (sizes: Sizes): readonly Result[] | undefined => groups.get(groupOf({ scenario: scenario.name, sizes }));
  if (nodes !== undefined) return at({ ...scenario.sizes, nodes }) ?? [];
  const total = ([first]: readonly Result[]): number =>
    Object.values(first?.sizes ?? {}).reduce((sum, value) => sum + value, 0);
  const [largest = []] = [...groups.values()].toSorted((left, right) => total(right) - total(left));
  return at(scenario.sizes) ?? largest;
}

function sizeText({ nodes, services, joining, steadySeconds }: Sizes): string {
  const parts = [
    [nodes, "nodes"],
    [joining, "joining"],
    [services, "Services"],
    [steadySeconds, "s"],
  ] as const;
  return parts.flatMap(([value, word]) => (value === undefined ? [] : [`${value} ${word}`])).join(", ");
}

function medianOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : median(values);
}

function threeDigits(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
