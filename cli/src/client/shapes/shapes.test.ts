import { describe, expect, test } from "vitest";
import { CommandError } from "../../errors.ts";
import { heldNode, heldRows, orphans, overview, plans, quietOverview, quietService } from "../../test/samples.ts";
import { readExplanation } from "./explanation.ts";
import { readOrphans, readOverview, readPlans, readRows } from "./overview.ts";

describe("what a controller answers", () => {
  test.each([
    ["explanation", readExplanation, heldNode],
    ["explanation of nothing", readExplanation, quietService],
    ["overview", readOverview, overview],
    ["overview of nothing", readOverview, quietOverview],
    ["plans", readPlans, plans],
    ["orphans", readOrphans, orphans],
    ["rows", readRows, heldRows],
  ])("is read as it is: %s", (_what, read, sample) => {
    expect(read(sample)).toEqual(sample);
  });

  test("may have fields that are not known here", () => {
    expect(
      readExplanation({ ...heldNode, mood: "good", causes: [{ ...heldNode.causes[0], weight: 1 }] }).causes,
    ).toHaveLength(1);
  });

  test.each([
    ["nothing", {}],
    ["a state that is not known here", { ...quietService, state: "sleepy" }],
    ["another kind of object", { ...quietService, object: "pod/a" }],
  ])("is refused with what is wrong, and what to do, where it is %s", (_what, answer) => {
    expect(() => readExplanation(answer)).toThrow(CommandError);
    expect(() => readExplanation(answer)).toThrow(/has an unknown format .*-o json/);
  });

  test("cannot move the terminal, nor turn the direction of words", () => {
    const summary = "red \u001B[31malert\u001B[0m\u0007 \u202Etxt.exe\nnext";
    expect(readExplanation({ ...quietService, summary }).summary).toBe("red  [31malert [0m   txt.exe next");
  });
});
