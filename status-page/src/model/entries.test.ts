import type { ObjectRow } from "@cloudwire/operator-api";
import { describe, expect, test } from "vitest";
import { entryOf, NO_ENTRIES, withRows } from "./entries.ts";

const row = (object: ObjectRow["object"], more: Partial<ObjectRow> = {}): ObjectRow => ({
  object,
  state: "ok",
  summary: "All is well.",
  provider: "aws",
  ...more,
});

describe("withRows()", () => {
  const before = withRows(NO_ENTRIES, [row("node/a"), row("node/b")], []);

  test("adds what is new, replaces what changed, takes away what is gone", () => {
    const after = withRows(before, [row("node/b", { state: "blocked" }), row("service/shop/web")], ["node/a"]);
    expect([...after.values()].map((entry) => [entry.row.object, entry.row.state])).toEqual([
      ["node/b", "blocked"],
      ["service/shop/web", "ok"],
    ]);
  });

  test("leaves the entries that it was given as they are", () => {
    withRows(before, [row("node/c")], ["node/a"]);
    expect([...before.keys()]).toEqual(["node/a", "node/b"]);
  });

  test("keeps an object that comes back under the same name in the same event", () => {
    expect(withRows(before, [row("node/a", { state: "progressing" })], ["node/a"]).get("node/a")?.row.state).toBe(
      "progressing",
    );
  });

  test("passes over a kind that it does not know", () => {
    const text: string = JSON.stringify([row("node/c")]).replace("node/", "cluster/");
    expect(withRows(NO_ENTRIES, JSON.parse(text), []).size).toBe(0);
  });
});

test("entryOf() orders numbers within names by their value", () => {
  const orders = ["node/worker-10", "node/worker-2", "node/worker-1"] as const;
  const names = orders
    .map((object) => entryOf(row(object)))
    .toSorted((a, b) => ((a?.order ?? "") < (b?.order ?? "") ? -1 : 1))
    .map((entry) => entry?.name);
  expect(names).toEqual(["worker-1", "worker-2", "worker-10"]);
});

test("entryOf() lets a search find name, reason, sentence and provider, in any case", () => {
  const entry = entryOf(row("node/Worker-1", { reason: "BackOff", summary: "Tried again.", provider: "Metal" }));
  expect(entry?.text).toBe("worker-1 backoff tried again. metal");
});
