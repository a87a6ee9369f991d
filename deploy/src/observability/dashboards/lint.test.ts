import { expect, test } from "vitest";
import { type LintedDashboard, lintDashboard } from "./lint.ts";

type LintedPanel = LintedDashboard["panels"][number];

const chosen = { uid: `\${datasource}` };

function panel(parts: Partial<LintedPanel> = {}): LintedPanel {
  return {
    id: 1,
    type: "timeseries",
    title: "Depth",
    description: "Objects in line.",
    gridPos: { x: 0, y: 0, w: 8, h: 8 },
    datasource: chosen,
    fieldConfig: { defaults: { unit: "short" } },
    targets: [target()],
    ...parts,
  };
}

function target(parts: Partial<NonNullable<LintedPanel["targets"]>[number]> = {}) {
  return {
    refId: "A",
    expr: 'rate(calls_total{job="$job"}[$__rate_interval])',
    legendFormat: "{{name}}",
    datasource: chosen,
    ...parts,
  };
}

function dashboard(panels: readonly LintedPanel[], parts: Partial<LintedDashboard> = {}): LintedDashboard {
  const list = [
    { name: "datasource", type: "datasource" },
    { name: "job", type: "query" },
  ];
  return { uid: "one", title: "One", templating: { list }, panels, ...parts };
}

const right = { x: 8, y: 0, w: 8, h: 8 };

test.each([
  { when: "all is well", given: dashboard([panel(), panel({ id: 2, title: "Age", gridPos: right })]), wanted: [] },
  { when: "a row needs no more than a title", given: dashboard([panel({ type: "row", targets: [] })]), wanted: [] },
  { when: "it has no uid", given: dashboard([], { uid: "" }), wanted: ["the dashboard has no uid"] },
  { when: "it has no title", given: dashboard([], { title: "" }), wanted: ["the dashboard has no title"] },
  {
    when: "the data source cannot be chosen",
    given: dashboard([], { templating: { list: [] } }),
    wanted: ["there is no variable for the data source"],
  },
  {
    when: "two panels have one id",
    given: dashboard([panel(), panel({ title: "Age", gridPos: right })]),
    wanted: ["several panels have id 1"],
  },
  {
    when: "two panels have one title",
    given: dashboard([panel(), panel({ id: 2, gridPos: right })]),
    wanted: ['several panels are called "Depth"'],
  },
  {
    when: "panels overlap",
    given: dashboard([panel(), panel({ id: 2, title: "Age", gridPos: { ...right, x: 7 } })]),
    wanted: ['"Depth" and "Age" overlap'],
  },
  {
    when: "a panel is beyond the edge",
    given: dashboard([panel({ gridPos: { ...right, x: 20 } })]),
    wanted: ['"Depth" is beyond the right edge'],
  },
  { when: "a panel has no title", given: dashboard([panel({ title: "" })]), wanted: ["panel 1 has no title"] },
  {
    when: "a panel has no description",
    given: dashboard([panel({ description: "" })]),
    wanted: ['"Depth" has no description'],
  },
  {
    when: "a panel has no unit",
    given: dashboard([panel({ fieldConfig: { defaults: {} } })]),
    wanted: ['"Depth" has no unit'],
  },
  {
    when: "a panel has a data source of its own",
    given: dashboard([panel({ datasource: { uid: "prometheus" } })]),
    wanted: ['"Depth" does not take the data source that is chosen'],
  },
  { when: "a panel is empty", given: dashboard([panel({ targets: [] })]), wanted: ['"Depth" asks for nothing'] },
  {
    when: "two queries have one letter",
    given: dashboard([panel({ targets: [target(), target()] })]),
    wanted: ['"Depth" has several queries A'],
  },
  {
    when: "a query has no legend",
    given: dashboard([panel({ targets: [target({ legendFormat: "" })] })]),
    wanted: ['"Depth" has a query without legend'],
  },
  {
    when: "a query has a data source of its own",
    given: dashboard([panel({ targets: [target({ datasource: { uid: "prometheus" } })] })]),
    wanted: ['"Depth" has a query with a data source of its own'],
  },
  {
    when: "a query uses an unknown variable",
    given: dashboard([panel({ targets: [target({ expr: 'up{job="$jobs"}' })] })]),
    wanted: ['"Depth" uses $jobs, which is no variable'],
  },
  {
    when: "a query has a fixed window",
    given: dashboard([panel({ targets: [target({ expr: 'rate(calls_total{job="$job"}[5m])' })] })]),
    wanted: ['"Depth" has the fixed window 5m: take $__rate_interval'],
  },
])("lintDashboard() reports when $when", ({ given, wanted }) => {
  expect(lintDashboard(given)).toEqual(wanted);
});
