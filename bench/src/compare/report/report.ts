import { markdownTable } from "../../lib/markdown-table.ts";
import { goalResults } from "./goals.ts";
import { CLOUDWIRE } from "../peers/names.ts";
import { groupOf, type Result, tableOf } from "./results.ts";
import type { Scenario } from "../scenarios/scenario.ts";

const WORDS = { pass: "pass", fail: "FAIL", notMeasured: "not measured" } as const;

/** A table with a title for each measured scenario and size. */
export function tables(scenarios: readonly Scenario[], results: readonly Result[]): readonly string[] {
  return scenarios.flatMap(({ name, about }) => {
    const groups = Map.groupBy(
      results.filter(({ scenario }) => scenario === name),
      groupOf,
    );
    return [...groups.values()].map((group) => `${about(group[0]?.sizes ?? {})}\n\n${tableOf(group, CLOUDWIRE)}`);
  });
}

/** Each goal with its limit and result. */
export function goalsTable(scenarios: readonly Scenario[], results: readonly Result[]): string {
  const rows = goalResults(scenarios, results).map(({ goal, at, wanted, got, kind }) => [
    goal,
    at,
    wanted,
    got,
    WORDS[kind],
  ]);
  return markdownTable([["goal", "at", "wanted", "got", ""], ...rows]);
}
