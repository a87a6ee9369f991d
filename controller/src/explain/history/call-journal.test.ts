import { describe, expect, test } from "vitest";
import { CallJournal, type JournalCall } from "./call-journal.ts";
import { itemFailures, subjectsOf, type Subjects } from "../../provider/observers/call-subjects.ts";
import type { Rpc } from "../../provider/convert/methods.ts";

function call(parts: Partial<JournalCall> = {}): JournalCall {
  const rest = {
    startMs: 1,
    provider: "east",
    durationMs: 5,
    code: "OK",
    reason: "",
    message: "",
    cloudRequestIds: [],
  };
  return { ...rest, method: "BatchGetInstances", ...parts };
}

function times(count: number, text: string): readonly string[] {
  return Array.from({ length: count }, () => text);
}

function nodes(...names: readonly string[]): Subjects {
  return { kind: "node", names };
}

describe("CallJournal", () => {
  test("finds a batch by each Node in it", () => {
    const journal = new CallJournal();
    journal.note(call(), nodes("a", "b"), undefined);
    journal.note(call({ startMs: 2, cloudRequestIds: ["req-1"] }), nodes("b", "c"), undefined);
    expect(journal.of("node", "b", 10)).toEqual([
      { ...call({ startMs: 2, cloudRequestIds: ["req-1"] }), objectCount: 2 },
      { ...call(), objectCount: 2 },
    ]);
    expect(journal.of("node", "b", 1)).toHaveLength(1);
    expect(journal.of("route", "b", 10)).toEqual([]);
  });

  test("reports one failed Node of a successful call", () => {
    const journal = new CallJournal();
    const failure = { code: "UNAVAILABLE", reason: "NOT_YET_CONSISTENT", message: "too new" };
    journal.note(call(), nodes("a", "b"), new Map([["b", failure]]));
    expect([journal.of("node", "a", 1), journal.of("node", "b", 1)]).toMatchObject([[{ code: "OK" }], [failure]]);
  });

  test("lets calls that go well push out none that failed", () => {
    const journal = new CallJournal();
    journal.note(call({ startMs: 0, code: "UNAVAILABLE" }), nodes("a"), undefined);
    for (let startMs = 1; startMs <= 2000; startMs++) journal.note(call({ startMs }), nodes("b"), undefined);
    expect(journal.of("node", "a", 10)).toHaveLength(1);
    expect(journal.of("node", "b", 1000)).toHaveLength(500);
  });

  test("forgets calls that are for too many Nodes together", () => {
    const journal = new CallJournal();
    const names = Array.from({ length: 25_000 }, (_, index) => `n${index}`);
    for (const startMs of [1, 2, 3]) journal.note(call({ startMs }), nodes(...names), undefined);
    expect(journal.of("node", "n7", 10).map(({ startMs }) => startMs)).toEqual([3, 2]);
  });

  test("keeps the beginning of what a provider says at length, and as many ids as it may give", () => {
    const journal = new CallJournal();
    const parts = { reason: "R".repeat(1000), message: "x".repeat(100_000), cloudRequestIds: times(100, "req") };
    journal.note(call({ code: "UNKNOWN", ...parts }), nodes("a"), undefined);
    expect(journal.of("node", "a", 1)).toEqual([
      {
        ...call({ code: "UNKNOWN", cloudRequestIds: times(5, "req") }),
        reason: `${"R".repeat(63)} …`,
        message: `${"x".repeat(500)} …`,
        objectCount: 1,
      },
    ]);
  });

  test("has of probes the last one of each provider", () => {
    const journal = new CallJournal();
    const none: Subjects = { kind: "provider", names: [] };
    for (const startMs of [1, 2, 3]) journal.note(call({ startMs, method: "GetProviderStatus" }), none, undefined);
    journal.note(call({ startMs: 2, method: "ListRoutes" }), none, undefined);
    journal.note(call({ startMs: 9, provider: "west" }), nodes("a"), undefined);
    expect(journal.ofProvider("east", 10).map(({ startMs, method }) => [startMs, method])).toEqual([
      [3, "GetProviderStatus"],
      [2, "ListRoutes"],
    ]);
  });
});

test.each<{ name: Rpc<unknown, unknown>["name"]; request: object; subjects: Subjects }>([
  { name: "BatchGetInstances", request: { nodes: [{ name: "a" }, { name: "b" }] }, subjects: nodes("a", "b") },
  {
    name: "BatchEnsureRoutes",
    request: { routes: [{ targetNodeName: "a" }] },
    subjects: { kind: "route", names: ["a"] },
  },
  {
    name: "EnsureLoadBalancer",
    request: { service: { namespace: "shop", name: "web" }, nodes: {} },
    subjects: { kind: "service", names: ["shop/web"] },
  },
  { name: "ListRoutes", request: {}, subjects: { kind: "provider", names: [] } },
])("subjectsOf() knows whose call $name is", ({ name, request, subjects }) => {
  expect(subjectsOf({ name }, request)).toEqual(subjects);
});

describe("itemFailures()", () => {
  test("finds the items that failed", () => {
    const value = { code: 8, reason: "QUOTA_EXCEEDED", message: "50 of 50" };
    const results = [{ outcome: { $case: "route", value: {} } }, { outcome: { $case: "error", value } }];
    expect(itemFailures(nodes("a", "b"), { results })).toEqual(
      new Map([["b", { code: "RESOURCE_EXHAUSTED", reason: "QUOTA_EXCEEDED", message: "50 of 50" }]]),
    );
  });

  test("keeps the beginning of what is said of one at length", () => {
    const value = { code: 14, reason: "CLOUD_UNAVAILABLE", message: "x".repeat(100_000) };
    const failures = itemFailures(nodes("a"), { results: [{ outcome: { $case: "unknown", value } }] });
    expect(failures?.get("a")?.message).toBe(`${"x".repeat(500)} …`);
  });

  test.each([
    { what: "none failed", response: { results: [{ outcome: { $case: "absent", value: {} } }] } },
    { what: "the answer has no items", response: {} },
    { what: "the answer has too few", response: { results: [] } },
  ])("finds none when $what", ({ response }) => {
    expect(itemFailures(nodes("a"), response)).toBeUndefined();
  });
});
