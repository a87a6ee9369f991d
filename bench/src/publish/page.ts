import { goalResults } from "../compare/report/goals.ts";
import type { ResultsFile } from "../compare/report/results-file.ts";
import { goalsTable, tables } from "../compare/report/report.ts";
import type { Scenario } from "../compare/scenarios/scenario.ts";
import { plotsOf } from "./plots.ts";

/** The page with these results in place of those between its marks: `<!-- begin goals -->` and so on. */
export function pageWith(page: string, scenarios: readonly Scenario[], { machine, results }: ResultsFile): string {
  const isMeasured = results.length > 0;
  const parts = {
    machine: isMeasured ? `Measured on ${machine}; ${roundsOf(results)}.` : "Nothing has been measured yet.",
    goals: `${summary(scenarios, results)}\n\n${goalsTable(scenarios, results)}`,
    plots: [...plotsOf(results)].map(([file, { title }]) => `![${title}](${file})`).join("\n\n"),
    tables: tables(scenarios, results).join("\n\n"),
  };
  return Object.entries(parts).reduce((text, [name, part]) => between(text, name, part), page);
}

/** The page with another text between two marks: `<!-- begin NAME -->` and `<!-- end NAME -->`. */
export function between(page: string, name: string, part: string): string {
  const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no part between ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${part === "" ? "" : `${part}\n\n`}${page.slice(to)}`;
}

function roundsOf(results: ResultsFile["results"]): string {
  const rounds = new Set(results.map(({ round }) => round)).size;
  return rounds === 1 ? "one round" : `${rounds} rounds of most`;
}

function summary(scenarios: readonly Scenario[], results: ResultsFile["results"]): string {
  const all = goalResults(scenarios, results);
  const count = (kind: string): number => all.filter((goalResult) => goalResult.kind === kind).length;
  return `${count("pass")} of ${all.length} rows pass, ${count("fail")} fail, ${count("notMeasured")} were not measured.`;
}
