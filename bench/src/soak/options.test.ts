import { describe, expect, test } from "vitest";
import { parseSoakOptions } from "./options.ts";

describe("parseSoakOptions()", () => {
  test("gives 30 minutes, 1,000 nodes and 80 Services when nothing is said", () => {
    expect(parseSoakOptions([], "/out")).toEqual({
      kind: "options",
      options: { durationMs: 1_800_000, nodes: 1000, services: 80, seed: 1, out: "/out" },
    });
  });

  test.each([
    ["90s", 90_000],
    ["2h", 7_200_000],
  ])("takes a duration of %s", (text, durationMs) => {
    expect(parseSoakOptions([`--duration=${text}`], "/out")).toMatchObject({ options: { durationMs } });
  });

  test("reports all problems together", () => {
    const args = ["--duration=30", "--nodes=0", "--services=many", "--seed=-1"];
    expect(parseSoakOptions(args, "/out")).toEqual({
      kind: "problems",
      problems: [
        "--duration 30: must be a number with its unit, such as 90s, 30m or 2h",
        "--nodes 0: must be a whole number from 1 to 10000",
        "--services many: must be a whole number from 1 to 1000",
        "--seed -1: must be a whole number from 1 to 4294967295",
      ],
    });
  });
});
