import type { ObjectRow } from "@cloudwire/operator-api";
import { describe, expect, test } from "vitest";
import { NO_ENTRIES, withRows } from "./entries.ts";
import { isState, providersOf, selectEntries, type Selection, totalOf } from "./selection.ts";

const rows: readonly ObjectRow[] = [
  { object: "node/worker-10", state: "ok", summary: "As its cloud says.", provider: "aws" },
  { object: "node/worker-2", state: "ok", summary: "As its cloud says.", provider: "metal" },
  { object: "node/worker-3", state: "blocked", reason: "InstanceUnknown", summary: "Not known.", provider: "aws" },
  { object: "node/worker-4", state: "unmanaged", summary: "No owner.", provider: "" },
  { object: "node/worker-5", state: "waiting", reason: "BackOff", summary: "Later.", provider: "metal" },
  { object: "node/worker-6", state: "progressing", summary: "Under way.", provider: "metal" },
  {
    object: "service/shop/web",
    state: "blocked",
    reason: "QuotaExhausted",
    summary: "Quota exceeded.",
    provider: "aws",
  },
];
const entries = withRows(NO_ENTRIES, rows, []);
const select = (change: Partial<Selection>): readonly string[] =>
  selectEntries(entries, { kind: "node", search: "", state: undefined, provider: undefined, ...change }).map(
    ({ name }) => name,
  );

describe("selectEntries()", () => {
  test("sorts by urgency, then by name", () => {
    expect(select({})).toEqual(["worker-3", "worker-5", "worker-6", "worker-2", "worker-10", "worker-4"]);
  });

  test.each<{ what: string; change: Partial<Selection>; found: readonly string[] }>([
    { what: "another kind", change: { kind: "service" }, found: ["shop/web"] },
    { what: "all kinds", change: { kind: "all", state: "blocked" }, found: ["shop/web", "worker-3"] },
    { what: "a state", change: { state: "ok" }, found: ["worker-2", "worker-10"] },
    { what: "a provider", change: { provider: "aws" }, found: ["worker-3", "worker-10"] },
    { what: "without an owner", change: { provider: "" }, found: ["worker-4"] },
    { what: "a part of a name", change: { search: "ker-1" }, found: ["worker-10"] },
    { what: "a reason in another case", change: { search: "BACKoff" }, found: ["worker-5"] },
    { what: "all of several words", change: { search: " worker  metal later" }, found: ["worker-5"] },
    { what: "a word that is nowhere", change: { search: "mars" }, found: [] },
    { what: "everything together", change: { search: "worker", state: "ok", provider: "metal" }, found: ["worker-2"] },
  ])("finds $what", ({ change, found }) => {
    expect(select(change)).toEqual(found);
  });
});

test("providersOf() names each provider once, in order", () => {
  expect(providersOf(entries, "node")).toEqual(["", "aws", "metal"]);
  expect(providersOf(entries, "service")).toEqual(["aws"]);
  expect(providersOf(entries, "all")).toEqual(["", "aws", "metal"]);
});

test.each([
  { text: "blocked", is: true },
  { text: "BLOCKED", is: false },
  { text: "", is: false },
  { text: null, is: false },
])("isState() says $is of $text", ({ text, is }) => {
  expect(isState(text)).toBe(is);
});

test("totalOf() counts all states", () => {
  expect(totalOf({ ok: 4, progressing: 3, waiting: 2, blocked: 1, unmanaged: 5 })).toBe(15);
});
