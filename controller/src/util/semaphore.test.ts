import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { settle } from "../../test/support/fake-clock.ts";
import { HIGH_IN_A_ROW, type Priority, WaitQueue, Semaphore } from "./semaphore.ts";

const never = new AbortController().signal;

/** Enters each under its name and records when it is inside. */
function enterAll(semaphore: Semaphore, entries: readonly (readonly [name: string, priority: "high" | "low"])[]) {
  const inside: string[] = [];
  const ways = new Map<string, () => void>();
  for (const [name, priority] of entries) {
    const enter = async (): Promise<void> => {
      const leave = await semaphore.enter(priority, never);
      inside.push(name);
      ways.set(name, leave);
    };
    void enter();
  }
  return { inside, leave: (name: string) => ways.get(name)?.() };
}

describe("Semaphore", () => {
  test("admits up to the limit, then by priority, then first come, first served", async () => {
    const semaphore = new Semaphore(1);
    const { inside, leave } = enterAll(semaphore, [
      ["first", "low"],
      ["low-1", "low"],
      ["low-2", "low"],
      ["high", "high"],
    ]);
    await settle();
    expect(inside).toEqual(["first"]);
    for (const name of ["first", "high", "low-1", "low-2"]) {
      leave(name);
      await settle();
    }
    expect(inside).toEqual(["first", "high", "low-1", "low-2"]);
    expect([semaphore.inside, semaphore.waiting]).toEqual([0, 0]);
  });

  test("admits waiters when the limit rises, and none when it falls", async () => {
    const semaphore = new Semaphore(1);
    const { inside, leave } = enterAll(semaphore, [
      ["a", "high"],
      ["b", "high"],
      ["c", "high"],
      ["d", "high"],
    ]);
    semaphore.setLimit(3);
    await settle();
    expect(inside).toEqual(["a", "b", "c"]);
    semaphore.setLimit(1);
    leave("a");
    await settle();
    expect(inside).toEqual(["a", "b", "c"]);
  });

  test("an abort while waiting frees the place", async () => {
    const semaphore = new Semaphore(1);
    const leave = await semaphore.enter("high", never);
    const impatient = new AbortController();
    const waiting = semaphore.enter("high", impatient.signal);
    impatient.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    leave();
    await semaphore.enter("low", never);
    expect(semaphore.inside).toBe(1);
  });

  test("leaving twice frees one place", async () => {
    const semaphore = new Semaphore(2);
    const leave = await semaphore.enter("high", never);
    await semaphore.enter("high", never);
    leave();
    leave();
    expect(semaphore.inside).toBe(1);
  });

  test("an aborted signal does not enter", async () => {
    const semaphore = new Semaphore(1);
    await expect(semaphore.enter("high", AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
    expect(semaphore.inside).toBe(0);
  });
});

describe("wait queue", () => {
  const priorities = fc.constantFrom<Priority>("high", "low");

  describe("WaitQueue", () => {
    test("takes high priority first, and each in order of arrival", () => {
      const line = new WaitQueue<string>();
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

    test("starves no waiter, whatever is added later", () => {
      fc.assert(
        fc.property(fc.array(priorities, { maxLength: 12 }), fc.infiniteStream(priorities), (before, later) => {
          const line = new WaitQueue<string>();
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

    test("ahead() is an upper bound of those taken before, when none is added after", () => {
      fc.assert(
        fc.property(fc.array(priorities, { maxLength: 30 }), priorities, (before, priority) => {
          const line = new WaitQueue<string>();
          for (const [index, one] of before.entries()) line.add(one, `${one} ${index}`);
          const expected = line.ahead(priority);
          line.add(priority, "the one");
          const order = Array.from({ length: before.length + 1 }, () => line.take());
          expect(order.indexOf("the one")).toBeLessThanOrEqual(expected);
        }),
      );
    });
  });
});
