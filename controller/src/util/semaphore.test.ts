import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { settle } from "../../test/support/fake-clock.ts";
import { HIGH_IN_A_ROW, type Priority, WaitQueue, Semaphore } from "./semaphore.ts";

const never = new AbortController().signal;

/** Enters under a name and notes when it is inside. */
function enterAll(semaphore: Semaphore, wishes: readonly (readonly [name: string, priority: "high" | "low"])[]) {
  const inside: string[] = [];
  const ways = new Map<string, () => void>();
  for (const [name, priority] of wishes) {
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
  test("lets the limit in at once, then by priority, then in order of coming", async () => {
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

  test("lets those waiting in when the limit goes up, and nobody when it goes down", async () => {
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

  test("one that gives up while waiting takes no place", async () => {
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

  test("one that has given up already does not enter", async () => {
    const semaphore = new Semaphore(1);
    await expect(semaphore.enter("high", AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
    expect(semaphore.inside).toBe(0);
  });
});

describe("priority line", () => {
  const priorities = fc.constantFrom<Priority>("high", "low");

  describe("WaitQueue", () => {
    test("lets the urgent go first, and of each the one that came first", () => {
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

    test("makes nobody wait for ever, whoever else comes", () => {
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

    test("ahead() is at least how many really go before, when nobody comes after", () => {
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
