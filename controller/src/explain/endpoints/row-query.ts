import { OBJECT_KINDS, type ObjectRow, STATES } from "@cloudwire/operator-api";
import type { Query } from "../../server/query-pages.ts";
import { kindOf } from "../overview/status-cache.ts";

/** Which rows are wanted; what is undefined is not asked about. */
export interface RowQuery {
  readonly kinds: ReadonlySet<string> | undefined;
  readonly states: ReadonlySet<string> | undefined;
  /** In lower case. */
  readonly search: string | undefined;
  readonly limit: number;
}

export type RowQueryResult =
  | { readonly kind: "query"; readonly query: RowQuery }
  | { readonly kind: "problem"; readonly problems: readonly string[] };

const PARAMETERS = ["kind", "state", "search", "limit"];

/** `?kind=node,service&state=blocked&search=TEXT&limit=N`; all problems together. */
export function parseRowQuery(query: Query): RowQueryResult {
  const problems: string[] = [];
  const choice = (name: string, known: readonly string[]): ReadonlySet<string> | undefined => {
    const text = query[name] ?? "";
    if (text === "") return undefined;
    const wanted = text.split(",");
    for (const one of wanted)
      if (!known.includes(one)) problems.push(`${name}: "${one}" is none of ${known.join(", ")}`);
    return new Set(wanted);
  };
  for (const name of Object.keys(query))
    if (!PARAMETERS.includes(name)) problems.push(`"${name}" is no parameter; there are ${PARAMETERS.join(", ")}`);
  const kinds = choice("kind", OBJECT_KINDS);
  const states = choice("state", STATES);
  const { limit = "", search = "" } = query;
  if (!/^\d{0,9}$/.test(limit) || Number(limit === "" ? 1 : limit) < 1)
    problems.push(`limit: "${limit}" is no number from 1 on`);
  if (problems.length > 0) return { kind: "problem", problems };
  return {
    kind: "query",
    query: {
      kinds,
      states,
      search: search === "" ? undefined : search.toLowerCase(),
      limit: limit === "" ? Number.POSITIVE_INFINITY : Number(limit),
    },
  };
}

/** Text is looked for in everything that a row says. */
export function matchesQuery(row: ObjectRow, { kinds, states, search }: Omit<RowQuery, "limit">): boolean {
  if (kinds !== undefined && !kinds.has(kindOf(row.object))) return false;
  if (states !== undefined && !states.has(row.state)) return false;
  if (search === undefined) return true;
  const { object, reason = "", summary, provider } = row;
  return [object, reason, summary, provider].some((text) => text.toLowerCase().includes(search));
}
