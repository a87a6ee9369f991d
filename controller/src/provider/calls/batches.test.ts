import * as fc from "fast-check";
import { expect, test } from "vitest";
import { splitBatches } from "./batches.ts";

const MIB = 1024 * 1024;

test("splitBatches() keeps order and items, and every batch of several within both limits", () => {
  const sizes = fc.array(fc.oneof(fc.nat(200), fc.nat(2 * MIB)), { maxLength: 60, size: "max" });
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 20 }), (items, maxItems) => {
      const batches = splitBatches(items, maxItems, (size) => size);
      expect(batches.flat()).toEqual(items);
      expect(batches.filter((batch) => batch.length === 0 || batch.length > maxItems)).toEqual([]);
      const heavy = batches.filter((batch) => batch.length > 1 && batch.reduce((sum, size) => sum + size, 0) > MIB);
      expect(heavy).toEqual([]);
    }),
  );
});

test("splitBatches() makes as few batches as possible", () => {
  const items = Array.from({ length: 1000 }, () => 100);
  expect(splitBatches(items, 200, (size) => size).map((batch) => batch.length)).toEqual([200, 200, 200, 200, 200]);
  expect(splitBatches([], 200, () => 1)).toEqual([]);
});
