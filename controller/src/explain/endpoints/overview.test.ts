import type { ObjectRow } from "@cloudwire/operator-api";
import { describe, expect, test } from "vitest";
import { matchesQuery, parseRowQuery } from "./overview.ts";

const ROWS: readonly ObjectRow[] = [
  { object: "node/worker-1", state: "ok", summary: "initialized", provider: "aws" },
  { object: "node/worker-2", state: "blocked", reason: "NodeUnowned", summary: "no owner", provider: "" },
  {
    object: "service/shop/web",
    state: "waiting",
    reason: "QuotaExceeded",
    summary: "The quota is full",
    provider: "aws",
  },
  { object: "provider/aws", state: "ok", summary: "ready", provider: "aws" },
];

function found(query: Readonly<Record<string, string>>): readonly string[] | undefined {
  const parsed = parseRowQuery(query);
  if (parsed.kind === "invalid") return undefined;
  return ROWS.filter((row) => matchesQuery(row, parsed.query)).map(({ object }) => object);
}

describe("a question for rows", () => {
  test.each<[Readonly<Record<string, string>>, readonly string[]]>([
    [{}, ["node/worker-1", "node/worker-2", "service/shop/web", "provider/aws"]],
    [{ kind: "" }, ["node/worker-1", "node/worker-2", "service/shop/web", "provider/aws"]],
    [{ kind: "node" }, ["node/worker-1", "node/worker-2"]],
    [{ kind: "service,provider" }, ["service/shop/web", "provider/aws"]],
    [{ state: "blocked,waiting" }, ["node/worker-2", "service/shop/web"]],
    [{ kind: "node", state: "waiting" }, []],
    [{ search: "WORKER" }, ["node/worker-1", "node/worker-2"]],
    [{ search: "quotaexceeded" }, ["service/shop/web"]],
    [{ search: "is full" }, ["service/shop/web"]],
    [{ search: "aws", kind: "node" }, ["node/worker-1"]],
  ])("%j finds %j", (query, expected) => {
    expect(found(query)).toEqual(expected);
  });

  test.each([
    ["", Number.POSITIVE_INFINITY],
    ["1", 1],
    ["5000", 5000],
  ])("limit %j is %d", (limit, expected) => {
    expect(parseRowQuery({ limit })).toMatchObject({ query: { limit: expected } });
  });

  test("that is invalid gets all problems", () => {
    expect(parseRowQuery({ kind: "pod,node", state: "bad", limit: "0", sort: "name" })).toEqual({
      kind: "invalid",
      problems: [
        'unknown parameter "sort"; use kind, state, search, limit',
        'kind: invalid value "pod"; use node, service, route, provider',
        'state: invalid value "bad"; use ok, progressing, waiting, blocked, unmanaged',
        'limit: "0" is not a number above 0',
      ],
    });
  });

  test.each(["-1", "1.5", "many", "1e3", "9999999999"])("limit %s is none", (limit) => {
    expect(parseRowQuery({ limit })).toMatchObject({ kind: "invalid" });
  });
});
