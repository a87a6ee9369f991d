import { afterEach, describe, expect, test } from "vitest";
import { manualClock } from "../../test/manual-clock.ts";
import { Database } from "./database.ts";
import { type Kind, ResourceStore } from "./resource-store.ts";

interface Thing {
  readonly id: string;
  readonly name: string;
  readonly zone?: string;
  readonly state?: string;
  readonly tags?: Record<string, string>;
}

const thingKind: Kind<Thing> = {
  name: "volume",
  check: (value): value is Thing => typeof value === "object" && value !== null && "id" in value && "name" in value,
};

const open: Database[] = [];
afterEach(() => {
  for (const database of open.splice(0)) database.close();
});

function newStore() {
  const database = new Database(":memory:");
  open.push(database);
  const clock = manualClock(1000);
  const store = new ResourceStore(database, clock.now, () => undefined);
  const put = (id: string, more: Partial<Thing> = {}, dueMs?: number) =>
    store.put(thingKind, "acc", { id, name: `name-${id}`, ...more }, dueMs);
  const ids = (snapshot?: number) =>
    store
      .list(thingKind, "acc", {}, snapshot === undefined ? {} : { snapshot })
      .map(({ id, state }) => `${id}:${state ?? ""}`);
  return { store, clock, put, ids };
}

describe("ResourceStore", () => {
  test("shows each snapshot as it was", () => {
    const { store, put, ids } = newStore();
    put("a", { state: "new" });
    const first = store.latest();
    put("b");
    put("a", { state: "old" });
    const second = store.latest();
    store.delete(thingKind, "acc", { id: "b", name: "name-b" });
    expect([ids(first), ids(second), ids()]).toEqual([["a:new"], ["a:old", "b:"], ["a:old"]]);
    expect(store.get(thingKind, "acc", "b", second)).toMatchObject({ id: "b" });
    expect(store.get(thingKind, "acc", "b")).toBeUndefined();
  });

  test("finds the snapshot of a moment", () => {
    const { store, clock, put, ids } = newStore();
    put("a");
    clock.advance(100);
    put("b");
    expect([999, 1000, 1099, 1100].map((timeMs) => ids(store.snapshotAt(timeMs)))).toEqual([
      [],
      ["a:"],
      ["a:"],
      ["a:", "b:"],
    ]);
  });

  test("keeps accounts apart", () => {
    const { store, put } = newStore();
    put("a");
    expect(store.list(thingKind, "other")).toEqual([]);
    expect(store.get(thingKind, "other", "a")).toBeUndefined();
    expect(store.changes("other", 0, [], 10)).toEqual([]);
  });

  test.each([
    ["ids", { ids: ["a", "c", "zz"] }, ["a", "c"]],
    ["names", { names: ["name-b"] }, ["b"]],
    ["zones", { zones: ["z1"] }, ["a", "b"]],
    ["states", { states: ["up"] }, ["b", "c"]],
    ["tags that all match", { tags: [["k/x", "1"]] as const }, ["a", "c"]],
    ["several filters together", { zones: ["z1"], states: ["up"] }, ["b"]],
    ["no id at all", { ids: [] }, []],
  ])("list() filters by %s", (_, filter, expected) => {
    const { store, put } = newStore();
    put("a", { zone: "z1", tags: { "k/x": "1" } });
    put("b", { zone: "z1", state: "up", tags: { "k/x": "2" } });
    put("c", { zone: "z2", state: "up", tags: { "k/x": "1" } });
    expect(store.list(thingKind, "acc", filter).map(({ id }) => id)).toEqual(expected);
  });

  test("changes() returns created, updated and deleted, in order, from any point on", () => {
    const { store, put } = newStore();
    put("a");
    put("a", { state: "x" });
    const middle = store.latest();
    store.delete(thingKind, "acc", { id: "a", name: "name-a" });
    const changesAfter = (after: number) =>
      store.changes("acc", after, [], 10).map(({ id, change }) => `${id} ${change}`);
    expect(changesAfter(0)).toEqual(["a created", "a updated", "a deleted"]);
    expect(changesAfter(middle)).toEqual(["a deleted"]);
    expect(store.changes("acc", 0, ["route"], 10)).toEqual([]);
  });

  test("due() lists the resources that the scheduler must process, by their latest due time", () => {
    const { store, put } = newStore();
    put("a", {}, 2000);
    put("b", {}, 3000);
    put("b", {}, 1500);
    put("c");
    expect(store.nextDueMs()).toBe(1500);
    expect(store.due(2000).map(({ id }) => id)).toEqual(["b", "a"]);
    store.setDue(thingKind, "acc", "b", undefined);
    expect(store.nextDueMs()).toBe(2000);
    expect(store.dueOf(thingKind, "acc", "a")).toBe(2000);
  });

  test("prune() forgets old versions and tombstones, and keeps what is current", () => {
    const { store, clock, put, ids } = newStore();
    put("a", { state: "1" });
    put("b");
    store.delete(thingKind, "acc", { id: "b", name: "name-b" });
    put("a", { state: "2" });
    clock.advance(1000);
    put("a", { state: "3" });
    store.prune(1500);
    expect(store.floor()).toBe(4);
    expect(ids()).toEqual(["a:3"]);
    expect(ids(4)).toEqual(["a:2"]);
    expect(store.changes("acc", 0, [], 10).map(({ seq }) => seq)).toEqual([4, 5]);
  });
});
