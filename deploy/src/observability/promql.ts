import type { MetricReference } from "./metric-reference.ts";

interface Selector {
  readonly name: string;
  readonly matchers: readonly Matcher[];
}

interface Matcher {
  readonly label: string;
  readonly isPattern: boolean;
  readonly value: string;
}

const SELECTOR = /([a-zA-Z_:][\w:]*)\{([^}]*)\}(?:\[[^\]]*\])?/g;
const GROUPING = /\b(?:by|without) \(([^)]*)\)/g;
const WORDS = new Set(["or", "and", "unless", "by", "without", "absent", "changes", "count", "histogram_quantile"]);
for (const word of ["increase", "max", "min", "rate", "sum", "time", "vector"]) WORDS.add(word);

/** Problems with the metrics, labels and label values that an expression names. Prometheus itself checks its syntax. */
export function problemsOf(expr: string, reference: MetricReference): readonly string[] {
  const selectors = selectorsOf(expr);
  const groupings = [...expr.matchAll(GROUPING)].flatMap(([, list = ""]) => list.split(",").map((one) => one.trim()));
  const kept = new Set(selectors.flatMap(({ name }) => [...(reference.get(name)?.keys() ?? [])]));
  return [
    ...(selectors.length === 0 ? ["asks for no metric"] : []),
    ...unselected(expr).map((word) => `${word} has no selector`),
    ...selectors.flatMap((selector) => selectorProblems(selector, reference)),
    ...groupings.filter((label) => !kept.has(label)).map((label) => `no metric in it has label ${label}`),
  ];
}

function selectorProblems({ name, matchers }: Selector, reference: MetricReference): readonly string[] {
  const known = reference.get(name);
  if (known === undefined) return [`there is no metric ${name}`];
  return [
    ...(matchers.some(({ label }) => label === "job") ? [] : [`${name} is asked for without job`]),
    ...matchers.flatMap((matcher) => {
      if (!known.has(matcher.label)) return [`${name} has no label ${matcher.label}`];
      return unknownValues(matcher, known.get(matcher.label)).map(
        (value) => `label ${matcher.label} of ${name} has no value ${value}`,
      );
    }),
  ];
}

/** Values, or alternatives of a pattern, that the label never has. */
function unknownValues({ value, isPattern }: Matcher, known: ReadonlySet<string> | undefined): readonly string[] {
  if (known === undefined) return [];
  if (!isPattern) return known.has(value) ? [] : [value];
  const matchesOne = (pattern: string): boolean => [...known].some((one) => new RegExp(`^(?:${pattern})$`).test(one));
  return value.split("|").filter((pattern) => !matchesOne(pattern));
}

function selectorsOf(expr: string): readonly Selector[] {
  return [...expr.matchAll(SELECTOR)].map(([, name = "", matchers = ""]) => ({
    name,
    matchers: [...matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(
      ([, label = "", operator = "", value = ""]) => ({
        label,
        isPattern: operator.endsWith("~"),
        value,
      }),
    ),
  }));
}

/** Metrics without a selector. */
function unselected(expr: string): readonly string[] {
  const rest = expr
    .replaceAll(SELECTOR, "")
    .replaceAll(GROUPING, "")
    .replaceAll(/"[^"]*"/g, "");
  return [...rest.matchAll(/[a-zA-Z_:][\w:]*/g)].map(([word]) => word).filter((word) => !WORDS.has(word));
}
