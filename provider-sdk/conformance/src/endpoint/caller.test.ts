import { describe, expect, test } from "vitest";
import { patienceOf } from "./caller.ts";

describe("patienceOf()", () => {
  test.each<[string, number | undefined, boolean, number]>([
    ["lets the server say first that a method's deadline has passed", 60_000, false, 61_000],
    ["follows deadlines that are stretched for slow machines", 120_000, false, 121_000],
    ["lets the server say first that a check's short deadline has passed", 2_000, true, 3_000],
    ["waits a minute for a call with a check's long deadline", 3_600_000, true, 60_000],
    ["waits a minute for a call without deadline", undefined, true, 60_000],
  ])("%s", (_name, deadlineMs, byCheck, wanted) => {
    expect(patienceOf(deadlineMs, byCheck)).toBe(wanted);
  });
});
