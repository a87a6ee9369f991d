import { expect, test } from "vitest";
import { FailureCounts } from "./failure-counts.ts";

test("failed() counts failures of one kind in a row, by key, until one succeeds", () => {
  const counts = new FailureCounts();
  expect([counts.failed("a", "x"), counts.failed("a", "x"), counts.failed("b", "x")]).toEqual([1, 2, 1]);
  counts.succeeded("a");
  expect([counts.failed("a", "x"), counts.failed("b", "x"), counts.failed("b", "y")]).toEqual([1, 2, 1]);
});
