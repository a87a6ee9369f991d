import { expect, test } from "vitest";
import { hinted } from "./hinted.ts";

test.each([
  { it: "with something to do", remedy: "pay", want: "quota (in 5 min; to do: pay)" },
  { it: "with nothing to do", remedy: undefined, want: "quota (in 5 min)" },
])("hinted() joins a cause and what comes next, $it", ({ remedy, want }) => {
  expect(hinted("quota", "in 5 min", remedy, 100)).toBe(want);
});

test("hinted() cuts the cause, and nothing of what to do", () => {
  const text = hinted("x".repeat(200), "in 5 min", "pay", 100);
  expect([text.length, text.endsWith("x… (in 5 min; to do: pay)")]).toEqual([100, true]);
});
