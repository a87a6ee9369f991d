import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { settle } from "../../test/support/fake-clock.ts";
import { FairLine, HIGH_IN_A_ROW, type Priority, Semaphore, WaitQueue } from "./semaphore.ts";

const never = new AbortController().signal;

/** Enters each under its name and records when it is inside. */
function enterAll(semaphore: Semaphore, entries: readonly (readonly [name: string, priority: "high" | "low"])[]) {
  const inside: string[] = [];
  const ways = new Map<string, () => void>();
  for (const [name, priority] of entries) {
    const enter = async (): Promise<void> => {
      const leave = await semaphore.enter({ priority, signal: never });
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
    const leave = await semaphore.enter({ priority: "high", signal: never });
    const impatient = new AbortController();
    const waiting = semaphore.enter({ priority: "high", signal: impatient.signal });
    impatient.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    leave();
    await semaphore.enter({ priority: "low", signal: never });
    expect(semaphore.inside).toBe(1);
  });

  test("leaving twice frees one place", async () => {
    const semaphore = new Semaphore(2);
    const leave = await semaphore.enter({ priority: "high", signal: never });
    await semaphore.enter({ priority: "high", signal: never });
    leave();
    leave();
    expect(semaphore.inside).toBe(1);
  });

  test("an aborted signal does not enter", async () => {
    const semaphore = new Semaphore(1);
    await expect(semaphore.enter({ priority: "high", signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow(
      "enough",
    );
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

describe("FairLine", () => {
  const filled = (items: readonly string[]): FairLine<string> => {
    const line = new FairLine<string>();
    for (const item of items) line.add(item, item.split("/")[0] ?? "");
    return line;
  };
  const takeAll = (line: FairLine<string>): readonly string[] => {
    const taken: string[] = [];
    for (let next = line.take(); next !== undefined; next = line.take()) taken.push(next);
    return taken;
  };

  test.each([
    ["one group in the order of the adds", ["a/1", "a/2", "a/3"], ["a/1", "a/2", "a/3"]],
    [
      "groups in turns (case A-6)",
      ["a/1", "a/2", "a/3", "b/1", "c/1", "c/2"],
      ["a/1", "b/1", "c/1", "a/2", "c/2", "a/3"],
    ],
  ])("takes %s", (_what, items, expected) => {
    expect(takeAll(filled(items))).toEqual(expected);
  });

  test("takes the only item of a group after one item of each other group (case A-6)", () => {
    const line = filled(Array.from({ length: 250 }, (_, index) => `busy/${index}`));
    expect(line.aheadOfNew("quiet")).toBe(1);
    line.add("quiet/web", "quiet");
    expect([line.ahead("quiet/web"), line.ahead("busy/249")]).toEqual([1, 250]);
  });

  test("loses no item, keeps the order within a group, and predicts the order", () => {
    const item = fc.tuple(fc.constantFrom("a", "b", "c", ""), fc.nat(30)).map((parts) => parts.join("/"));
    const items = fc.uniqueArray(item, { size: "max", maxLength: 60 });
    fc.assert(
      fc.property(items, fc.array(fc.nat(59)), (added, removed) => {
        const line = filled(added);
        const gone = new Set(removed.flatMap((index) => added[index] ?? []));
        for (const one of gone) line.remove(one);
        const left = added.filter((one) => !gone.has(one));
        const ahead = new Map(left.map((one) => [one, line.ahead(one)]));
        expect(line.size).toBe(left.length);
        const taken = takeAll(line);
        expect(taken.map((one) => ahead.get(one))).toEqual(taken.map((_, index) => index));
        const byGroup = (all: readonly string[]) => Object.groupBy(all, (one) => one.split("/")[0] ?? "");
        expect(byGroup(taken)).toEqual(byGroup(left));
        expect([line.size, line.first()]).toEqual([0, undefined]);
      }),
    );
  });
});
