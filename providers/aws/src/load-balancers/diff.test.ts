import fc from "fast-check";
import { expect, test } from "vitest";
import { changedEntries, differenceOf, isEmpty, sameSet } from "./diff.ts";

const same = (item: string): string => item;

test.each([
  [[], [], [], []],
  [["a"], [], ["a"], []],
  [[], ["a"], [], ["a"]],
  [["a", "b", "a"], ["b", "c"], ["a"], ["c"]],
])("differenceOf() %j from %j adds %j and removes %j", (wanted, present, added, removed) => {
  expect(differenceOf(wanted, present, same)).toEqual({ added, removed });
});

test("differenceOf() leads from any state to the wanted one, and then is empty", () => {
  const items = fc.array(fc.constantFrom("a", "b", "c", "d", "e"));
  fc.assert(
    fc.property(items, items, (wanted, present) => {
      const { added, removed } = differenceOf(wanted, present, same);
      const after = new Set([...present, ...added].filter((item) => !removed.includes(item)));
      expect(after).toEqual(new Set(wanted));
      expect(isEmpty(differenceOf(wanted, after, same))).toBe(true);
    }),
  );
});

test("changedEntries() returns only missing and different entries", () => {
  expect(changedEntries({ a: "1", b: "2", c: "3" }, { a: "1", b: "x", d: "4" })).toEqual({ b: "2", c: "3" });
});

test("sameSet() does not heed order", () => {
  expect([sameSet(["a", "b"], ["b", "a"]), sameSet(["a"], ["a", "b"])]).toEqual([true, false]);
});
