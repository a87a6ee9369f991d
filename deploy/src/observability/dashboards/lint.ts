/** One panel as far as the rules look at it. */
interface LintedPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly LintedTarget[];
}

interface LintedTarget {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat?: string;
  readonly datasource?: { readonly uid: string };
}

/** A dashboard as Grafana imports it. */
export interface LintedDashboard {
  readonly uid: string;
  readonly title: string;
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly LintedPanel[];
}

const COLUMNS = 24;
const SOURCE = `\${datasource}`;
const BUILT_IN = /^__/;

/** What is wrong with a dashboard; empty: nothing. */
export function lintDashboard(dashboard: LintedDashboard): readonly string[] {
  const { uid, title, templating, panels } = dashboard;
  const names = templating.list.map(({ name }) => name);
  return [
    ...(uid === "" ? ["the dashboard has no uid"] : []),
    ...(title === "" ? ["the dashboard has no title"] : []),
    ...(templating.list.some(({ name, type }) => name === "datasource" && type === "datasource")
      ? []
      : ["there is no variable for the data source"]),
    ...twice(panels.map(({ id }) => String(id))).map((id) => `several panels have id ${id}`),
    ...twice(panels.filter(({ type }) => type !== "row").map((panel) => panel.title)).map(
      (name) => `several panels are called "${name}"`,
    ),
    ...overlaps(panels),
    ...panels.filter(({ type }) => type !== "row").flatMap((panel) => panelProblems(panel, names)),
  ];
}

function panelProblems(panel: LintedPanel, variables: readonly string[]): readonly string[] {
  const { id, title, description = "", gridPos, datasource, fieldConfig, targets = [] } = panel;
  const problems = [
    ...(title === "" ? [`panel ${id} has no title`] : []),
    ...(description === "" ? [`"${title}" has no description`] : []),
    ...(fieldConfig?.defaults.unit ? [] : [`"${title}" has no unit`]),
    ...(datasource?.uid === SOURCE ? [] : [`"${title}" does not take the data source that is chosen`]),
    ...(gridPos.x + gridPos.w > COLUMNS ? [`"${title}" is beyond the right edge`] : []),
    ...(targets.length === 0 ? [`"${title}" asks for nothing`] : []),
    ...twice(targets.map(({ refId }) => refId)).map((refId) => `"${title}" has several queries ${refId}`),
  ];
  return [...problems, ...targets.flatMap((target) => targetProblems(target, title, variables))];
}

function targetProblems(target: LintedTarget, title: string, variables: readonly string[]): readonly string[] {
  const { expr, legendFormat = "", datasource } = target;
  const used = [...expr.matchAll(/\$(\w+)/g)].map(([, name = ""]) => name);
  const windows = [...expr.matchAll(/\[([^\]]+)\]/g)].map(([, window = ""]) => window);
  return [
    ...(legendFormat === "" ? [`"${title}" has a query without legend`] : []),
    ...(datasource?.uid === SOURCE ? [] : [`"${title}" has a query with a data source of its own`]),
    ...used
      .filter((name) => !BUILT_IN.test(name) && !variables.includes(name))
      .map((name) => `"${title}" uses $${name}, which is no variable`),
    ...windows
      .filter((window) => window !== "$__rate_interval")
      .map((window) => `"${title}" has the fixed window ${window}: take $__rate_interval`),
  ];
}

function overlaps(panels: readonly LintedPanel[]): readonly string[] {
  return panels.flatMap(({ title, gridPos: a }, index) =>
    panels
      .slice(index + 1)
      .filter(({ gridPos: b }) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h)
      .map((other) => `"${title}" and "${other.title}" overlap`),
  );
}

function twice(values: readonly string[]): readonly string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}
