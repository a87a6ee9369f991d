import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HIGH_IN_A_ROW, type Priority, PriorityLine } from "./priority-line.ts";

const priorities = fc.constantFrom<Priority>("high", "low");

describe("PriorityLine", () => {
  test("lets the urgent go first, and of each the one that came first", () => {
    const line = new PriorityLine<string>();
    for (const [priority, name] of [
      ["low", "l1"],
      ["high", "h1"],
      ["low", "l2"],
      ["high", "h2"],
    ] as const)
      line.add(priority, name);
    line.remove("low", "l1");
    expect([line.count("high"), line.count("low"), line.size]).toEqual([2, 1, 3]);
    expect([line.take(), line.take(), line.take(), line.take()]).toEqual(["h1", "h2", "l2", undefined]);
  });

  test("makes nobody wait for ever, whoever else comes", () => {
    fc.assert(
      fc.property(fc.array(priorities, { maxLength: 12 }), fc.infiniteStream(priorities), (before, later) => {
        const line = new PriorityLine<string>();
        for (const [index, priority] of before.entries()) line.add(priority, `${priority} ${index}`);
        const lowBefore = line.count("low");
        line.add("low", "the one");
        let turns = 0;
        for (let next = line.take(); next !== "the one"; next = line.take()) {
          turns++;
          const [priority = "high"] = later.take(1);
          line.add(priority, `later ${turns}`);
        }
        expect(turns).toBeLessThanOrEqual((lowBefore + 1) * (HIGH_IN_A_ROW + 1));
      }),
    );
  });

  test("ahead() is at least how many really go before, when nobody comes after", () => {
    fc.assert(
      fc.property(fc.array(priorities, { maxLength: 30 }), priorities, (before, priority) => {
        const line = new PriorityLine<string>();
        for (const [index, one] of before.entries()) line.add(one, `${one} ${index}`);
        const expected = line.ahead(priority);
        line.add(priority, "the one");
        const order = Array.from({ length: before.length + 1 }, () => line.take());
        expect(order.indexOf("the one")).toBeLessThanOrEqual(expected);
      }),
    );
  });
});
