import { describe, expect, test } from "vitest";
import { SharedRead } from "./shared-read.ts";

/** A cloud whose answers are given by hand, and a clock that is moved by hand. */
const setUp = () => {
  const clock = { nowMs: 1_000_000 };
  const begun: PromiseWithResolvers<void>[] = [];
  const shared = new SharedRead(
    async () => {
      const guard = Promise.withResolvers<void>();
      const number = begun.push(guard);
      await guard.promise;
      return { number };
    },
    () => clock.nowMs,
  );
  const call = () => new AbortController();
  return { clock, begun, shared, call };
};

describe("SharedRead", () => {
  test("reads once for all who ask meanwhile, and later within the age that they allow", async () => {
    const { clock, begun, shared, call } = setUp();
    const readers = [shared.get(5_000, call()), shared.get(5_000, call())];
    begun[0]?.resolve();
    const wanted = { number: 1, readTime: new Date(1_000_000) };
    expect(await Promise.all(readers)).toEqual([wanted, wanted]);
    clock.nowMs += 5_000;
    expect(await shared.get(5_000, call())).toEqual(wanted);
    clock.nowMs += 1;
    const next = shared.get(5_000, call());
    begun[1]?.resolve();
    expect(await next).toEqual({ number: 2, readTime: new Date(1_005_001) });
  });

  test("reads again for who wants no old data, after the read that is under way", async () => {
    const { begun, shared, call } = setUp();
    const [first, second] = [shared.get(5_000, call()), shared.get(0, call())];
    begun[0]?.resolve();
    expect((await first).number).toBe(1);
    await expect.poll(() => begun.length).toBe(2);
    begun[1]?.resolve();
    expect((await second).number).toBe(2);
  });

  test("reads for who waited when the read failed, unless their call has ended, too", async () => {
    const { begun, shared, call } = setUp();
    const gone = call();
    const readers = [shared.get(5_000, call()), shared.get(5_000, gone)].map(async (read) => read.catch(String));
    const patient = shared.get(5_000, call());
    gone.abort(new Error("gone"));
    begun[0]?.reject(new Error("cut off"));
    expect(await Promise.all(readers)).toEqual(["Error: cut off", "Error: gone"]);
    await expect.poll(() => begun.length).toBe(2);
    begun[1]?.resolve();
    expect((await patient).number).toBe(2);
  });

  test("reads once for all who waited when the read was cut off, and again if that one is", async () => {
    const { begun, shared, call } = setUp();
    const [first, second] = [call(), call()];
    const readers = [first, second].map(async (each) => shared.get(5_000, each).catch(String));
    const patient = [shared.get(5_000, call()), shared.get(0, call())];
    for (const [index, each] of [first, second].entries()) {
      each.abort(new Error(`gone ${index}`));
      begun[index]?.reject(new Error("cut off"));
      await expect.poll(() => begun.length).toBe(index + 2);
    }
    begun[2]?.resolve();
    expect((await Promise.all(patient)).map(({ number }) => number)).toEqual([3, 3]);
    expect(await Promise.all(readers)).toEqual(["Error: gone 0", "Error: gone 1"]);
    expect(begun).toHaveLength(3);
  });

  test("returns the result of one more read to all callers that waited", async () => {
    const { begun, shared, call } = setUp();
    const readers = [1, 2, 3].map(async () => shared.get(5_000, call()).catch(String));
    begun[0]?.reject(new Error("down"));
    await expect.poll(() => begun.length).toBe(2);
    begun[1]?.reject(new Error("still down"));
    expect(await Promise.all(readers)).toEqual(["Error: down", "Error: still down", "Error: still down"]);
    expect(begun).toHaveLength(2);
  });

  test("ends a wait with the call that waits, and the read goes on for the others", async () => {
    const { begun, shared, call } = setUp();
    const gone = call();
    const [patient, impatient] = [shared.get(5_000, call()), shared.get(5_000, gone)];
    gone.abort(new Error("gone"));
    await expect(impatient).rejects.toThrow("gone");
    begun[0]?.resolve();
    expect((await patient).number).toBe(1);
  });

  test("reads instead of other requests where that takes fewer", async () => {
    const { begun, shared, call } = setUp();
    const ask = async (saved: number, taken: number, maxAgeMs = 5_000) =>
      shared.getIfCheaper({ savedRequests: saved, neededRequests: taken, maxAgeMs }, call());
    expect(await ask(3, 3)).toBeUndefined();
    expect(begun).toHaveLength(0);
    const [own, joined] = [ask(3, 2), ask(2, 9)];
    expect(await ask(1, 9)).toBeUndefined();
    begun[0]?.resolve();
    expect([(await own)?.number, (await joined)?.number, (await ask(0, 9))?.number]).toEqual([1, 1, 1]);
    expect(await ask(2, 9, 0)).toBeUndefined();
  });
});
