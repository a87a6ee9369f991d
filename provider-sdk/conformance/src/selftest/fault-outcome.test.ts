import { describe, expect, test } from "vitest";
import { evaluateFault, outcomeLines } from "./fault-outcome.ts";

const mutant = { name: "no-end", fault: "it never ends", fails: ["b.two", "a.one"] };
const evaluate = (passing: readonly string[], failing: readonly string[]) =>
  evaluateFault({
    mutant,
    passing: new Set(passing),
    failing: failing.map((id) => ({ id, says: "it is wrong" })),
    elapsedMs: 1,
  });
const all = ["a.one", "b.two", "c.three"];

describe("evaluateFault()", () => {
  test.each([
    ["those that have to", ["a.one", "b.two"], "found"],
    ["one of two", ["a.one"], "differs"],
    ["one more", ["a.one", "b.two", "c.three"], "differs"],
    ["one more, which fails without the fault, too", ["a.one", "b.two", "d.four"], "found"],
  ])("evaluates a fault by the checks that fail: %s", (_name, failing, kind) => {
    expect(evaluate(all, failing).kind).toBe(kind);
  });

  test("does not ask for checks that do not pass without the fault", () => {
    expect(evaluate(["b.two"], ["b.two"])).toMatchObject({ kind: "found", must: ["b.two"], did: ["b.two"] });
    expect(evaluate([], []).kind).toBe("not shown");
  });
});

describe("outcomeLines()", () => {
  test("reports what has to fail, and what did not", () => {
    expect(outcomeLines(evaluate(all, ["a.one", "b.two"]))).toBe(
      "FOUND      no-end  it never ends\n  must and did fail  a.one, b.two\n",
    );
    expect(outcomeLines({ ...evaluate(all, ["a.one", "c.three"]), tries: 2 })).toBe(
      "DIFFERS    no-end  it never ends (at try 2)\n  must fail  a.one, b.two\n  did not    b.two\n  did, too   c.three: it is wrong\n",
    );
    expect(outcomeLines(evaluate([], []))).toBe("NOT SHOWN  no-end  it never ends\n");
  });
});
