import { median } from "../lib/statistics.ts";
import { CLOUDWIRE, RAW_WRITER, UPSTREAM, UPSTREAM_TUNED } from "./names.ts";
import { type Measure, ratios, type Result } from "./results.ts";
import type { Sizes } from "./scenario.ts";

/** A goal and how it stands. */
export interface Standing {
  readonly goal: string;
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
  /** Smaller clusters say nothing about it. */
  readonly fromNodes?: number;
}

/** Median over the rounds of how many times Cloudwire's figure the peer's is. */
const times =
  (peer: string, measure: Measure) =>
  (results: readonly Result[]): number | undefined => {
    const values = ratios(results, peer, CLOUDWIRE, measure);
    return values.length === 0 ? undefined : median(values);
  };

/** Median over the rounds of how many times the peer's figure Cloudwire's is. */
const share =
  (peer: string, measure: Measure) =>
  (results: readonly Result[]): number | undefined => {
    const values = ratios(results, CLOUDWIRE, peer, measure);
    return values.length === 0 ? undefined : median(values);
  };

/** Median over the rounds of Cloudwire's figure, by what there is of something. */
const each =
  (of: "nodes" | "services", measure: Measure) =>
  (results: readonly Result[], sizes: Sizes): number | undefined => {
    const own = results.filter(({ peer }) => peer === CLOUDWIRE).map(({ figures }) => figures[measure]);
    return own.length === 0 ? undefined : median(own) / sizes[of];
  };

/** What is written once for the whole cluster, such as the event about leadership, is nothing a node. */
const ONCE = 0.01;

const GOALS: readonly Goal[] = [
  {
    scenario: "initialise",
    goal: "initialise faster than upstream tuned, at least 2×",
    value: times(UPSTREAM_TUNED, "seconds"),
    atLeast: 2,
  },
  {
    scenario: "initialise",
    goal: "initialise faster than upstream, at least 30×",
    value: times(UPSTREAM, "seconds"),
    atLeast: 30,
  },
  {
    scenario: "initialise",
    goal: "initialise within 1.5× of raw writes",
    value: share(RAW_WRITER, "seconds"),
    atMost: 1.5,
  },
  {
    scenario: "initialise",
    goal: "calls of the cloud, at most 0.01 of upstream's",
    value: share(UPSTREAM_TUNED, "cloudCalls"),
    atMost: 0.01,
  },
  { scenario: "initialise", goal: "writes a node, at most 2", value: each("nodes", "apiWrites"), atMost: 2 + ONCE },
  { scenario: "initialise", goal: "events a node, at most 1", value: each("nodes", "events"), atMost: 1 + ONCE },
  { scenario: "initialise", goal: "CPU, at most upstream's", value: share(UPSTREAM_TUNED, "cpuSeconds"), atMost: 1 },
  {
    scenario: "initialise",
    goal: "RSS of the controller from 5,000 nodes on, at most 0.5 of upstream's",
    value: share(UPSTREAM_TUNED, "controllerRssMiB"),
    atMost: 0.5,
    fromNodes: 5000,
  },
  {
    scenario: "initialise",
    goal: "RSS of the controller from 15,000 nodes on, at most 0.3 of upstream's",
    value: share(UPSTREAM_TUNED, "controllerRssMiB"),
    atMost: 0.3,
    fromNodes: 15_000,
  },
  {
    scenario: "initialise",
    goal: "RSS of both from 15,000 nodes on, at most 0.5 of upstream's",
    value: share(UPSTREAM_TUNED, "rssMiB"),
    atMost: 0.5,
    fromNodes: 15_000,
  },
  {
    scenario: "initialise",
    goal: "RSS of both from 1,000 nodes on, less than upstream's",
    value: share(UPSTREAM_TUNED, "rssMiB"),
    atMost: 1,
    fromNodes: 1000,
  },
  {
    scenario: "services",
    goal: "Services faster than upstream, at least 10×",
    value: times(UPSTREAM, "seconds"),
    atLeast: 10,
  },
  {
    scenario: "services",
    goal: "Services as fast as upstream tuned",
    value: times(UPSTREAM_TUNED, "seconds"),
    atLeast: 1,
  },
  {
    scenario: "restart",
    goal: "no change at the cloud by a restart",
    value: each("services", "cloudChanges"),
    atMost: 0,
  },
  {
    scenario: "restart",
    goal: "restart in at most half of upstream's time",
    value: share(UPSTREAM_TUNED, "seconds"),
    atMost: 0.5,
  },
  {
    scenario: "join",
    goal: "changes a load balancer while nodes join, at most 3",
    value: each("services", "cloudChanges"),
    atMost: 3,
  },
  {
    scenario: "steady",
    goal: "calls of the cloud at rest, at most 0.02 of upstream's",
    value: share(UPSTREAM_TUNED, "cloudCalls"),
    atMost: 0.02,
  },
  {
    scenario: "steady",
    goal: "CPU at rest, at most upstream's",
    value: share(UPSTREAM_TUNED, "cpuSeconds"),
    atMost: 1,
  },
];

/** Every goal, and whether the runs have reached it. */
export function standings(results: readonly Result[], sizes: Sizes): readonly Standing[] {
  return GOALS.map(
    ({
      goal,
      scenario,
      value,
      atLeast = Number.NEGATIVE_INFINITY,
      atMost = Number.POSITIVE_INFINITY,
      fromNodes = 0,
    }) => {
      const own = results.filter((result) => result.scenario === scenario);
      const got = sizes.nodes < fromNodes ? undefined : value(own, sizes);
      if (got === undefined) return { goal, got: "", kind: "notMeasured" };
      return { goal, got: got.toFixed(3), kind: got >= atLeast && got <= atMost ? "pass" : "fail" };
    },
  );
}
