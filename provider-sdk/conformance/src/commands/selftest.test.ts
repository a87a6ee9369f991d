import { describe, expect, test } from "vitest";
import { judgeMutant, outcomeLines, selftestSummary } from "./selftest.ts";

const mutant = { name: "no-end", fault: "it never ends", fails: ["b.two", "a.one"] };
const passing = new Set(["a.one", "b.two", "c.three"]);

describe("judgeMutant()", () => {
  test.each([
    ["those that have to", ["a.one", "b.two"], "found"],
    ["one of two", ["a.one"], "differs"],
    ["one more", ["a.one", "b.two", "c.three"], "differs"],
    ["one more, which fails without the fault, too", ["a.one", "b.two", "d.four"], "found"],
  ])("judges a fault by which checks fail: %s", (_name, failing, kind) => {
    expect(judgeMutant(mutant, passing, failing).kind).toBe(kind);
  });

  test("does not ask for checks that do not pass without the fault", () => {
    expect(judgeMutant(mutant, new Set(["b.two"]), ["b.two"])).toEqual({
      mutant,
      kind: "found",
      must: ["b.two"],
      did: ["b.two"],
    });
    expect(judgeMutant(mutant, new Set(), []).kind).toBe("not shown");
  });
});

describe("outcomeLines()", () => {
  test("tells what has to fail and what did", () => {
    expect(outcomeLines(judgeMutant(mutant, passing, ["a.one", "b.two"]))).toBe(
      "FOUND      no-end  it never ends\n  must and did fail  a.one, b.two\n",
    );
    expect(outcomeLines(judgeMutant(mutant, passing, []))).toBe(
      "DIFFERS    no-end  it never ends\n  must fail  a.one, b.two\n  did fail   none\n",
    );
    expect(outcomeLines(judgeMutant(mutant, new Set(), []))).toBe("NOT SHOWN  no-end  it never ends\n");
  });
});

describe("selftestSummary()", () => {
  test("counts", () => {
    const found = judgeMutant(mutant, passing, ["a.one", "b.two"]);
    expect(selftestSummary([found, found])).toBe("selftest: 2 faults, 2 found, 0 otherwise than they have to be\n");
    expect(selftestSummary([found, judgeMutant(mutant, new Set(), [])])).toContain(", 1 not shown, for want of");
  });
});
