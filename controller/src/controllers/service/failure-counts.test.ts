import { expect, test } from "vitest";
import { FailureCounts } from "./failure-counts.ts";

test("failed() counts in a row and by key, until one succeeds", () => {
  const counts = new FailureCounts();
  expect([counts.failed("a"), counts.failed("a"), counts.failed("b")]).toEqual([1, 2, 1]);
  counts.succeeded("a");
  expect([counts.failed("a"), counts.failed("b")]).toEqual([1, 2]);
});
