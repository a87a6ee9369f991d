import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { LOAD_BALANCER_REMEDIES } from "../../api/load-balancer-condition.ts";
import { cause, isReason, REASONS, stateOf } from "./reasons.ts";

const rows = Object.entries(REASONS);

test.each(rows)("%s has an existing page, and a remedy if blocked", (_reason, row) => {
  expect(existsSync(new URL(`../../../../${row.documentation}`, import.meta.url))).toBe(true);
  expect(row.state !== "blocked" || row.remedy !== undefined).toBe(true);
});

test.each([
  { message: undefined, expected: REASONS.CloudBusy.message },
  { message: "", expected: REASONS.CloudBusy.message },
  { message: "another change runs", expected: "Another change runs." },
  { message: "spec.ports[0]: no", expected: "spec.ports[0]: no." },
  { message: "Already a sentence.", expected: "Already a sentence." },
])("cause() makes a sentence of $message", ({ message, expected }) => {
  expect(cause("CloudBusy", message).message).toBe(expected);
});

test("cause() accepts a more exact remedy", () => {
  expect(cause("CloudBusy", "x", "Do this.")).toEqual({
    reason: "CloudBusy",
    message: "X.",
    remedy: "Do this.",
    documentation: REASONS.CloudBusy.documentation,
  });
  expect(stateOf(cause("CloudBusy"))).toBe("waiting");
});

test("conditions of Services and explanations have the same reason for a problem", () => {
  const progress = ["Ready", "Provisioning", "Updating", "Deleting"];
  expect(Object.keys(LOAD_BALANCER_REMEDIES).filter((reason) => !isReason(reason))).toEqual(progress);
});
