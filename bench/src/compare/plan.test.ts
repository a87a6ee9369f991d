import { describe, expect, test } from "vitest";
import { CLOUDWIRE, RAW_WRITER, UPSTREAM, UPSTREAM_TUNED } from "./peers/names.ts";
import { missingRuns, planOf, type PlanOptions, withResult } from "./plan.ts";
import type { Result, Run } from "./report/results.ts";
import { SCENARIOS } from "./scenarios/scenarios.ts";

const options: PlanOptions = {
  scenarios: SCENARIOS.map(({ name }) => name),
  peers: undefined,
  sizes: {},
  rounds: 1,
  growth: false,
};

const words = ({ scenario, sizes, peer, round }: Run): string =>
  [scenario, ...Object.values(sizes), peer, round].join(" ");
const plan = (changes: Partial<PlanOptions>) => planOf(SCENARIOS, { ...options, ...changes });

describe("planOf()", () => {
  test("measures each scenario at the sizes and with the peers of its goals", () => {
    expect(plan({}).map(words)).toEqual([
      `initialize 5000 ${CLOUDWIRE} 0`,
      `initialize 5000 ${UPSTREAM} 0`,
      `initialize 5000 ${UPSTREAM_TUNED} 0`,
      `initialize 5000 ${RAW_WRITER} 0`,
      `initialize 1000 ${CLOUDWIRE} 0`,
      `initialize 1000 ${UPSTREAM_TUNED} 0`,
      `initialize 15000 ${CLOUDWIRE} 0`,
      `initialize 15000 ${UPSTREAM_TUNED} 0`,
      `services 500 ${CLOUDWIRE} 0`,
      `services 500 ${UPSTREAM} 0`,
      `services 500 ${UPSTREAM_TUNED} 0`,
      `restart 5000 200 ${CLOUDWIRE} 0`,
      `restart 5000 200 ${UPSTREAM_TUNED} 0`,
      `join 100 100 ${CLOUDWIRE} 0`,
      `join 100 100 ${UPSTREAM_TUNED} 0`,
      `not-ready 5000 ${CLOUDWIRE} 0`,
      `not-ready 5000 ${UPSTREAM_TUNED} 0`,
      `steady 5000 100 600 ${CLOUDWIRE} 0`,
      `steady 5000 100 600 ${UPSTREAM_TUNED} 0`,
    ]);
  });

  test("measures growth at three sizes of nodes and of Services", () => {
    const runs = plan({ growth: true, peers: [CLOUDWIRE, RAW_WRITER] });
    expect(runs.map(words)).toEqual([
      ...[1000, 5000, 15_000].flatMap((nodes) =>
        [CLOUDWIRE, RAW_WRITER].map((peer) => `initialize ${nodes} ${peer} 0`),
      ),
      ...[10, 100, 1000].map((services) => `services ${services} ${CLOUDWIRE} 0`),
    ]);
  });

  test("applies given sizes to every scenario that has them, each once", () => {
    const runs = plan({ scenarios: ["initialize", "services", "not-ready"], peers: [CLOUDWIRE], sizes: { nodes: 30 } });
    expect(runs.map(words)).toEqual([
      `initialize 30 ${CLOUDWIRE} 0`,
      `services 500 ${CLOUDWIRE} 0`,
      `not-ready 30 ${CLOUDWIRE} 0`,
    ]);
    expect(plan({ growth: true, scenarios: ["initialize"], peers: [CLOUDWIRE], sizes: { nodes: 30 } })).toHaveLength(1);
  });

  test("begins each round with another peer, and gives writes to the raw writer alone where there are only those", () => {
    const runs = plan({ scenarios: ["not-ready"], peers: [CLOUDWIRE, UPSTREAM, RAW_WRITER], rounds: 2 });
    expect(runs.map(({ peer }) => peer)).toEqual([CLOUDWIRE, UPSTREAM, UPSTREAM, CLOUDWIRE]);
  });
});

const run = (peer: string, round: number): Run => ({ scenario: "initialize", sizes: { nodes: 30 }, peer, round });
const measured = (peer: string, round: number, seconds = 1): Result => ({
  kind: "measured",
  ...run(peer, round),
  measurements: { seconds },
});
const failed = (peer: string, round: number): Result => ({ kind: "failed", ...run(peer, round), reason: "so it is" });

test("missingRuns() leaves out what is there at the same sizes, and tries again what failed", () => {
  const otherSize: Result = { ...measured("b", 1), sizes: { nodes: 31 } };
  const runs = [run("a", 0), run("b", 0), run("a", 1), run("b", 1)];
  expect(missingRuns(runs, [measured("a", 0), failed("b", 0), otherSize])).toEqual(runs.slice(1));
});

test("withResult() puts a result in the place of an earlier one of the same run", () => {
  const results = [failed("a", 0), measured("b", 0)];
  expect(withResult(results, measured("a", 0, 2))).toEqual([measured("b", 0), measured("a", 0, 2)]);
});
