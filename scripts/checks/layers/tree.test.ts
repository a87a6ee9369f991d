import { describe, expect, test } from "vitest";
import { messages } from "./test/messages.ts";

const files = (count: number, directory: string, suffix = ".ts"): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${directory}/f${index}${suffix}`, ""]));

describe("directoryFindings()", () => {
  const KUBE = "controller/src/kube";

  test("allows 15 sources, and any number of tests", () => {
    expect(messages({ ...files(15, KUBE), ...files(15, KUBE, ".test.ts"), ...files(15, `${KUBE}/cache`) })).toEqual([]);
  });

  test("refuses 16 sources", () => {
    expect(messages(files(16, KUBE))).toEqual([`${KUBE}:1 has 16 source files: at most 15 lie in one directory`]);
  });
});

describe("cycleFindings()", () => {
  test("refuses a cycle, of types too", () => {
    expect(
      messages({
        "controller/src/kube/a.ts": 'import type { B } from "./b.ts";',
        "controller/src/kube/b.ts": 'import type { A } from "./a.ts";',
      }),
    ).toEqual(["controller/src/kube/a.ts:1 imports, over others, itself: controller/src/kube/b.ts"]);
  });

  test("allows tests to be imported by tests", () => {
    expect(
      messages({
        "controller/test/support/a.ts": 'import { b } from "./b.ts";',
        "controller/test/support/b.ts": 'import { a } from "./a.ts";',
      }),
    ).toEqual([]);
  });
});
