import type { MetricReference } from "./metric-reference.ts";

interface Selector {
  readonly name: string;
  readonly labels: readonly string[];
}

const SELECTOR = /([a-zA-Z_:][\w:]*)\{([^}]*)\}(?:\[[^\]]*\])?/g;
const GROUPING = /\b(?:by|without) \(([^)]*)\)/g;
const WORDS = new Set(["or", "and", "unless", "by", "without", "absent", "changes", "count", "histogram_quantile"]);
for (const word of ["increase", "max", "min", "rate", "sum", "time", "vector"]) WORDS.add(word);

/** What is wrong with the metrics and labels that an expression names. Whether it can be read is Prometheus' to say. */
export function problemsOf(expr: string, reference: MetricReference): readonly string[] {
  const selectors = selectorsOf(expr);
  const groupings = [...expr.matchAll(GROUPING)].flatMap(([, list = ""]) => list.split(",").map((one) => one.trim()));
  const kept = new Set(selectors.flatMap(({ name }) => [...(reference.get(name) ?? [])]));
  return [
    ...(selectors.length === 0 ? ["asks for no metric"] : []),
    ...unselected(expr).map((word) => `${word} has no selector`),
    ...selectors.flatMap((selector) => selectorProblems(selector, reference)),
    ...groupings.filter((label) => !kept.has(label)).map((label) => `no metric in it has label ${label}`),
  ];
}

function selectorProblems({ name, labels }: Selector, reference: MetricReference): readonly string[] {
  const known = reference.get(name);
  if (known === undefined) return [`there is no metric ${name}`];
  return [
    ...(labels.includes("job") ? [] : [`${name} is asked for without job`]),
    ...labels.filter((label) => !known.has(label)).map((label) => `${name} has no label ${label}`),
  ];
}

function selectorsOf(expr: string): readonly Selector[] {
  return [...expr.matchAll(SELECTOR)].map(([, name = "", matchers = ""]) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = ""]) => label),
  }));
}

/** Names that are no words of the language: metrics of any job. */
function unselected(expr: string): readonly string[] {
  const rest = expr
    .replaceAll(SELECTOR, "")
    .replaceAll(GROUPING, "")
    .replaceAll(/"[^"]*"/g, "");
  return [...rest.matchAll(/[a-zA-Z_:][\w:]*/g)].map(([word]) => word).filter((word) => !WORDS.has(word));
}
