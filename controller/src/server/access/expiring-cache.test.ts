import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { ExpiringCache } from "./expiring-cache.ts";

describe("ExpiringCache", () => {
  test("asks once while the answer is good, and again after", async () => {
    const clock = new FakeClock();
    const cache = new ExpiringCache<number>(10, () => 1000, clock);
    let asked = 0;
    const get = () => cache.get("a", async () => ++asked);
    expect([await get(), await get()]).toEqual([1, 1]);
    await clock.advance(999);
    expect(await get()).toBe(1);
    await clock.advance(1);
    expect(await get()).toBe(2);
  });

  test("lets the answer say how long it is good", async () => {
    const clock = new FakeClock();
    const cache = new ExpiringCache<boolean>(10, (yes) => (yes ? 1000 : 10), clock);
    let answer = false;
    const get = () => cache.get("a", async () => answer);
    expect(await get()).toBe(false);
    answer = true;
    await clock.advance(10);
    expect(await get()).toBe(true);
    answer = false;
    await clock.advance(10);
    expect(await get()).toBe(true);
  });

  test("asks once for all who ask at the same time", async () => {
    const cache = new ExpiringCache<number>(10, () => 0, new FakeClock());
    const { promise, resolve } = Promise.withResolvers<number>();
    let asked = 0;
    const ask = () => {
      asked++;
      return promise;
    };
    const both = Promise.all([cache.get("a", ask), cache.get("a", ask)]);
    resolve(7);
    expect(await both).toEqual([7, 7]);
    expect(asked).toBe(1);
  });

  test("does not keep a failure", async () => {
    const cache = new ExpiringCache<number>(10, () => 1000, new FakeClock());
    await expect(cache.get("a", () => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
    expect(await cache.get("a", async () => 1)).toBe(1);
  });

  test("keeps what was used last when it is full", async () => {
    const cache = new ExpiringCache<string>(2, () => 1000, new FakeClock());
    const asked: string[] = [];
    const get = (key: string) =>
      cache.get(key, async () => {
        asked.push(key);
        return key;
      });
    for (const key of ["a", "b", "a", "c", "a", "b"]) await get(key);
    expect(asked).toEqual(["a", "b", "c", "b"]);
  });
});
