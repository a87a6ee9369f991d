import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { DASHBOARDS } from "./dashboards.ts";
import { lintDashboard, type LintedDashboard } from "./dashboards/lint.ts";
import { metricReference } from "./metric-reference.ts";
import { problemsOf } from "./promql.ts";

const page = (name: string): string =>
  readFileSync(new URL(`../../../docs/reference/${name}.md`, import.meta.url), "utf8");

const reference = metricReference(page("metrics"), page("conditions"));

describe.each(DASHBOARDS)("dashboard $uid", ({ uid, rows, variables }) => {
  const queries = rows.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries));

  test("passes the linter", () => {
    const file = new URL(`../../observability/dashboards/${uid}.json`, import.meta.url);
    const written: LintedDashboard = JSON.parse(readFileSync(file, "utf8"));
    expect(written.panels.length).toBeGreaterThan(10);
    expect(lintDashboard(written)).toEqual([]);
  });

  test("selects metrics, labels and values that exist", () => {
    const problems = queries.flatMap(({ expr }) => problemsOf(expr.replaceAll("$__rate_interval", "5m"), reference));
    expect(problems).toEqual([]);
  });

  test("names in legends only labels that its metrics have", () => {
    const named = queries.flatMap(({ legend }) =>
      [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label),
    );
    const known = new Set([...reference.values()].flatMap((labels) => [...labels.keys()]));
    expect(named.filter((label) => !known.has(label))).toEqual([]);
  });

  test("takes the values of its variables from existing metrics", () => {
    const asked = variables.map(({ query }) => /^label_values\((\w+)(?:\{.*\})?, (\w+)\)$/.exec(query));
    const unknown = asked.filter((match) => !reference.get(match?.[1] ?? "")?.has(match?.[2] ?? ""));
    expect(unknown).toEqual([]);
  });
});
