import { expect, test } from "vitest";
import { coalesced } from "./coalesce.ts";

test("coalesced() shares the next run among those who ask during one", async () => {
  let runs = 0;
  const releases: (() => void)[] = [];
  const ask = coalesced(async () => {
    runs += 1;
    const run = runs;
    await new Promise<void>((resolve) => {
      releases.push(resolve);
    });
    return run;
  });
  const first = ask();
  await Promise.resolve();
  await expect.poll(() => releases.length).toBe(1);
  const [second, third] = [ask(), ask()];
  releases[0]?.();
  expect(await first).toBe(1);
  await expect.poll(() => releases.length).toBe(2);
  releases[1]?.();
  expect(await Promise.all([second, third])).toEqual([2, 2]);
});

test("coalesced() rejects for those who asked for the run that failed, and goes on", async () => {
  let runs = 0;
  const ask = coalesced(async () => {
    runs += 1;
    if (runs === 1) throw new Error("no");
    return runs;
  });
  await expect(ask()).rejects.toThrow("no");
  expect(await ask()).toBe(2);
});
