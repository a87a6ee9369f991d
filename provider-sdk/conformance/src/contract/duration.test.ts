import { expect, test } from "vitest";
import { pauseMs } from "./duration.ts";

test.each([
  ["as asked", 2_000, 2_000],
  ["as usual, where nothing is asked", undefined, 1_000],
  ["a moment, where none is asked", 0, 10],
  ["a moment, where the time is over", -5, 10],
  ["a minute at most, which is what the contract allows", 9e16, 60_000],
])("pauseMs() is %s", (_sentence, askedMs, expected) => {
  expect(pauseMs(askedMs, 1_000)).toBe(expected);
});
