import { describe, expect, test } from "vitest";
import { type Check, CheckFailure } from "./check.ts";
import { fakeCheck, fakeContext } from "../test/fake-check.ts";
import { parsePattern } from "./plan.ts";
import { Runner, type RunnerDeps } from "./runner.ts";

const failing = async (): Promise<void> => {
  throw new CheckFailure({ message: "wrong" });
};

const run = async (checks: readonly Check[], more: Partial<RunnerDeps> = {}) => {
  const runner = new Runner({
    openContext: (_check, signal) => ({ context: fakeContext(signal), close: async () => undefined }),
    lost: async () => undefined,
    stuck: () => undefined,
    repeatLine: () => undefined,
    started: () => undefined,
    finished: () => undefined,
    parallel: 2,
    fixtures: { malformedIds: [] },
    slowFactor: 1,
    knownFailing: [],
    knownFlaky: [],
    signal: new AbortController().signal,
    ...more,
  });
  const results = await runner.run(checks.map((check) => ({ check })));
  return Object.fromEntries(results.map(({ id, result }) => [id, result]));
};

const known = (id: string) => [parsePattern(id, [id])];

describe("Runner", () => {
  test("distinguishes a failure of the provider from one of the kit", async () => {
    const broken = fakeCheck("a.broken", {
      run: async () => {
        throw new RangeError("oops");
      },
    });
    expect(await run([fakeCheck("a.good"), fakeCheck("a.bad", { run: failing }), broken])).toEqual({
      "a.good": { kind: "pass" },
      "a.bad": { kind: "fail", finding: { message: "wrong" } },
      "a.broken": { kind: "error", message: expect.stringContaining("oops") },
    });
  });

  test("blocks what requires a check that fails, and what requires that, whatever the order", async () => {
    const checks = [
      fakeCheck("a.third", { requires: ["a.second"] }),
      fakeCheck("a.second", { requires: ["a.first"] }),
      fakeCheck("a.first", { run: failing }),
    ];
    expect(await run(checks)).toEqual({
      "a.first": { kind: "fail", finding: { message: "wrong" } },
      "a.second": { kind: "blocked", by: "a.first" },
      "a.third": { kind: "blocked", by: "a.second" },
    });
  });

  test("blocks the rest once the provider no longer answers", async () => {
    const checks = [fakeCheck("a.first", { run: failing }), fakeCheck("a.second", { requires: ["a.other"] })];
    const other = fakeCheck("a.other", { requires: ["a.first"] });
    const outcomes = await run([...checks, other], { lost: async () => "the provider is gone", parallel: 1 });
    expect(outcomes["a.second"]).toEqual({ kind: "blocked", by: "the provider is gone, last during a.first" });
  });

  test("takes what a check throws before it waits like what it throws later", async () => {
    const hasty = fakeCheck("a.hasty", {
      run: () => {
        throw new CheckFailure({ message: "wrong" });
      },
    });
    expect(await run([hasty])).toEqual({ "a.hasty": { kind: "fail", finding: { message: "wrong" } } });
  });

  test("ends a check whose time is up", async () => {
    const hanging = fakeCheck("a.hangs", { timeoutMs: 20, run: () => new Promise(() => undefined) });
    expect(await run([hanging])).toEqual({
      "a.hangs": { kind: "fail", finding: { message: "the check did not end within 20 ms" } },
    });
  });

  test("gives a check the time that the fixtures ask for", async () => {
    const timeoutMs: Check["timeoutMs"] = ({ loadBalancer }) => loadBalancer?.timeoutMs ?? 10_000;
    const hanging = fakeCheck("a.hangs", { timeoutMs, run: () => new Promise(() => undefined) });
    const fixtures = { malformedIds: [], loadBalancer: { timeoutMs: 10 } };
    expect(await run([hanging], { fixtures, slowFactor: 3 })).toEqual({
      "a.hangs": { kind: "fail", finding: { message: "the check did not end within 30 ms" } },
    });
  });

  test("excuses what is known to fail, and fails what is known to and passes", async () => {
    expect(await run([fakeCheck("a.bad", { run: failing })], { knownFailing: known("a.bad") })).toEqual({
      "a.bad": { kind: "known-fail", finding: { message: "wrong" } },
    });
    expect(await run([fakeCheck("a.good")], { knownFailing: known("a.good") })).toEqual({
      "a.good": { kind: "fail", finding: { message: expect.stringContaining("known to fail") } },
    });
  });

  test("tries what is known to be flaky again, three times in all", async () => {
    let tries = 0;
    const flaky = fakeCheck("a.flaky", { run: () => (++tries < 3 ? failing() : Promise.resolve()) });
    expect(await run([flaky], { knownFlaky: known("a.flaky") })).toEqual({
      "a.flaky": { kind: "flaky", finding: { message: "wrong" } },
    });
    expect(tries).toBe(3);
  });

  test("counts no failure of an advisory check", async () => {
    expect(await run([fakeCheck("a.advice", { advisory: true, run: failing })])).toEqual({
      "a.advice": { kind: "advisory", finding: { message: "wrong" } },
    });
  });

  test("runs at most as many at a time as there are workers, and exclusive checks alone", async () => {
    let [now, most] = [0, 0];
    const seen: string[] = [];
    const watched = (id: string, more: Partial<Check> = {}) =>
      fakeCheck(id, {
        ...more,
        run: async () => {
          most = Math.max(most, ++now);
          seen.push(`${id} with ${now}`);
          await new Promise(setImmediate);
          now--;
        },
      });
    await run([watched("x.alone", { exclusive: true }), watched("a.one"), watched("a.two"), watched("a.three")]);
    expect(most).toBe(2);
    expect(seen.at(-1)).toBe("x.alone with 1");
  });
});
