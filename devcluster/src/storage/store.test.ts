import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../object.ts";
import { type Change, Store } from "./store.ts";

const object = (name: string, value = ""): KubeObject => ({ metadata: { name, labels: { value } } });
const namesIn = (entries: readonly { readonly key: string }[]): readonly string[] => entries.map(({ key }) => key);

describe("Store", () => {
  test("put() and delete() each take the next revision, of all resources together", () => {
    const store = new Store({ historyLimit: 10 });
    const first = store.put("/nodes", "a", object("a"));
    const second = store.put("/services", "b", object("b"));
    const gone = store.delete("/nodes", "a");
    expect([first, second, gone].map((written) => written?.metadata.resourceVersion)).toEqual(["2", "3", "4"]);
    expect(store.get("/nodes", "a")).toBeUndefined();
  });

  test("delete() of nothing writes nothing", () => {
    const store = new Store({ historyLimit: 10 });
    expect(store.delete("/nodes", "a")).toBeUndefined();
    expect(store.revision).toBe(1);
  });

  test("list() is ordered by key, not by creation", () => {
    const store = new Store({ historyLimit: 10 });
    for (const key of ["b/x", "a-b/x", "a/y", "a/x"]) store.put("/maps", key, object(key));
    expect(namesIn(store.list("/maps"))).toEqual(["a-b/x", "a/x", "a/y", "b/x"]);
  });

  test("subscribe() hears of its resource only, until it is called off", () => {
    const store = new Store({ historyLimit: 10 });
    const heard: Change[] = [];
    const stop = store.subscribe("/nodes", (change) => heard.push(change));
    store.put("/nodes", "a", object("a"));
    store.put("/services", "a", object("a"));
    stop();
    store.put("/nodes", "b", object("b"));
    expect(heard.map(({ key, revision }) => [key, revision])).toEqual([["a", 2]]);
  });

  test("compact() makes what came before unreachable, and only that", () => {
    const store = new Store({ historyLimit: 10 });
    store.put("/nodes", "a", object("a"));
    store.put("/nodes", "b", object("b"));
    store.put("/nodes", "c", object("c"));
    store.compact(3);
    expect(() => store.listAt("/nodes", 2)).toThrow(
      expect.objectContaining({ code: "COMPACTED", asked: 2, oldest: 3 }),
    );
    expect(() => store.changesSince("/nodes", 2)).toThrow(expect.objectContaining({ code: "COMPACTED" }));
    expect(namesIn(store.listAt("/nodes", 3))).toEqual(["a", "b"]);
    expect(namesIn(store.changesSince("/nodes", 3))).toEqual(["c"]);
  });

  test("the history is bounded", () => {
    const store = new Store({ historyLimit: 10 });
    for (let index = 0; index < 100; index += 1) store.put("/nodes", "a", object("a", `${index}`));
    expect(store.revision - store.oldestRevision).toBeLessThanOrEqual(10);
    expect(store.changesSince("/nodes", store.oldestRevision)).toHaveLength(store.revision - store.oldestRevision);
  });

  test("any past state is what it was, and the changes since lead from it to the present", () => {
    const step = fc.record({
      key: fc.constantFrom("a", "b", "c"),
      remove: fc.boolean(),
      table: fc.constantFrom("/x", "/y"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: "max" }), (steps) => {
        const store = new Store({ historyLimit: 1000 });
        const states = [{ revision: store.revision, entries: store.list("/x") }];
        for (const { key, remove, table } of steps) {
          if (remove) store.delete(table, key);
          else store.put(table, key, object(key, `${store.revision}`));
          states.push({ revision: store.revision, entries: store.list("/x") });
        }
        for (const { revision, entries } of states) {
          expect(store.listAt("/x", revision)).toEqual(entries);
          const replayed = new Map(entries.map((entry) => [entry.key, entry.object] as const));
          for (const change of store.changesSince("/x", revision)) {
            if (change.object === undefined) replayed.delete(change.key);
            else replayed.set(change.key, change.object);
          }
          expect(Object.fromEntries(replayed)).toEqual(
            Object.fromEntries(store.list("/x").map((entry) => [entry.key, entry.object] as const)),
          );
        }
      }),
    );
  });
});
