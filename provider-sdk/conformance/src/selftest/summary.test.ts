import { describe, expect, test } from "vitest";
import type { FaultOutcome } from "./fault-outcome.ts";
import type { SelftestEvent } from "./selftest.ts";
import { selftestLines, selftestSummary, SelftestTally } from "./summary.ts";

const outcome = (kind: FaultOutcome["kind"]): SelftestEvent => {
  const ids = { must: ["a.one"], did: kind === "found" ? ["a.one"] : [], surplus: [] };
  return { kind: "fault", outcome: { name: "no-end", fault: "it never ends", kind, ...ids, elapsedMs: 1, tries: 1 } };
};
const baseline = (...problems: readonly string[]): SelftestEvent => ({
  kind: "negativeBaseline",
  outcome: { name: "mute", fault: "it says nothing", problems, elapsedMs: 1 },
});
const correct = (...failing: readonly string[]): SelftestEvent => ({
  kind: "correct",
  which: "first",
  seed: 1,
  passed: 1,
  failing,
});

const tallyOf = (...events: readonly SelftestEvent[]): SelftestTally => {
  const tally = new SelftestTally();
  for (const event of events) tally.add(event);
  return tally;
};

describe("SelftestTally", () => {
  test.each<[string, readonly SelftestEvent[], boolean, boolean]>([
    ["all is found", [correct(), outcome("found"), baseline()], true, true],
    ["a fault differs", [outcome("differs")], false, false],
    ["a fault cannot be shown", [outcome("not shown")], false, true],
    ["a check fails without a fault", [correct("b.two fail")], false, true],
    ["a negative baseline fails", [baseline("nothing fails in lb")], false, true],
  ])("evaluates the kit's own provider and another by their own standards when %s", (_name, events, own, others) => {
    expect(tallyOf(...events).isGood(true)).toBe(own);
    expect(tallyOf(...events).isGood(false)).toBe(others);
  });
});

describe("selftestSummary()", () => {
  test("counts, and reports what is wrong beside faults", () => {
    const tally = tallyOf(
      correct("b.two fail"),
      outcome("found"),
      outcome("not shown"),
      baseline(),
      baseline("no end"),
    );
    expect(selftestSummary(tally, true, false)).toBe(
      "selftest: 2 faults, 1 found, 0 otherwise than they have to be, 1 not shown, because no check passes without them" +
        "; 1 negative baselines passed; 2 problems:\n  without a fault, seed 1: b.two fail\n  mute: no end\n",
    );
    expect(JSON.parse(selftestSummary(tally, true, true))).toMatchObject({ kind: "summary", found: 1, good: false });
  });

  test("omits negative baselines and failing checks for another vendor's provider", () => {
    expect(selftestSummary(tallyOf(correct("b.two fail"), outcome("found")), false, false)).toBe(
      "selftest: 1 faults, 1 found, 0 otherwise than they have to be\n",
    );
  });
});

describe("selftestLines()", () => {
  test("writes each event as JSON on a line, or for people, and progress on a terminal", () => {
    const tally = tallyOf({ kind: "planned", faults: 2, negativeBaselines: 0 }, outcome("found"));
    expect(selftestLines(true, false)(outcome("found"), tally)).toEqual({
      out: `${JSON.stringify(outcome("found"))}\n`,
      err: "",
    });
    const { out, err } = selftestLines(false, true)(outcome("found"), tally);
    expect(out).toBe("FOUND      no-end  it never ends\n  must and did fail  a.one\n");
    expect(err).toBe("\r\u001b[K1/2");
  });
});
