import { expect, test } from "vitest";
import { noPlans } from "../../test/samples.ts";
import { planResultOf } from "./plan-result.ts";

const pending = (creates: number, updates: number, deletes: number) => ({
  create: creates,
  update: updates,
  delete: deletes,
});

test.each([
  ["nothing is to be written", {}, "safe", 0],
  ["only creates are", { pending: pending(5, 0, 0) }, "safe", 0],
  ["something would be changed", { pending: pending(0, 1, 0) }, "differences", 3],
  ["something would be removed", { pending: pending(0, 0, 1) }, "differences", 3],
  [
    "something would be removed, and more may be found",
    { pending: pending(0, 0, 1), complete: false },
    "differences",
    3,
  ],
  ["not everything has been looked at", { complete: false }, "unknown", 4],
  ["nothing is observed", { observing: false, complete: false }, "unknown", 4],
])("where %s, the result is %s", (_what, page, kind, exitCode) => {
  expect(planResultOf({ ...noPlans, ...page })).toMatchObject({ kind, exitCode });
});
