import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { cause, REASONS, stateOf } from "./reasons.ts";

const rows = Object.entries(REASONS);

test.each(rows)("%s has a page that exists, and a remedy where nothing passes by itself", (_reason, row) => {
  expect(existsSync(new URL(`../../../../${row.documentation}`, import.meta.url))).toBe(true);
  expect(row.state !== "blocked" || "remedy" in row).toBe(true);
});

test.each([
  { message: undefined, told: REASONS.CloudBusy.message },
  { message: "", told: REASONS.CloudBusy.message },
  { message: "another change goes on", told: "Another change goes on." },
  { message: "spec.ports[0]: no", told: "spec.ports[0]: no." },
  { message: "Already a sentence.", told: "Already a sentence." },
])("cause() tells $message as a sentence", ({ message, told }) => {
  expect(cause("CloudBusy", message).message).toBe(told);
});

test("cause() takes a remedy that is more exact", () => {
  expect(cause("CloudBusy", "x", "Do this.")).toEqual({
    reason: "CloudBusy",
    message: "X.",
    remedy: "Do this.",
    documentation: REASONS.CloudBusy.documentation,
  });
  expect(stateOf(cause("CloudBusy"))).toBe("waiting");
});
