import { expect, test } from "vitest";
import * as format from "./format.ts";

test.each([
  [-5, "0 ms"],
  [850, "850 ms"],
  [999.6, "1 s"],
  [4_200, "4.2 s"],
  [5_000, "5 s"],
  [42_400, "42 s"],
  [59_700, "1 min"],
  [65_000, "1 min 5 s"],
  [3_599_600, "1 h"],
  [7_800_000, "2 h 10 min"],
  [86_399_000, "1 d"],
  [273_600_000, "3 d 4 h"],
])("formatDuration() of %d ms is %s", (ms, text) => {
  expect(format.formatDuration(ms)).toBe(text);
});

test.each([
  [42_000, "in 42 s"],
  [41_600, "in 42 s"],
  [700, "in 1 s"],
  [400, "now"],
  [-9_000, "now"],
  [125_000, "in 2 min 5 s"],
])("formatCountdown() of %d ms is %s", (ms, text) => {
  expect(format.formatCountdown(ms)).toBe(text);
});

test.each([
  [-3_000, "just now"],
  [999, "just now"],
  [1_900, "1 s ago"],
  [3_900, "3 s ago"],
  [61_000, "1 min 1 s ago"],
])("formatAgo() of %d ms is %s", (ms, text) => {
  expect(format.formatAgo(ms)).toBe(text);
});

test.each([
  [0, "0/s"],
  [0.25, "0.25/s"],
  [12.44, "12.4/s"],
  [20, "20/s"],
  [1_250, "1,250/s"],
  [1_234_567.8, "1,234,568/s"],
])("formatRate() of %d is %s", (value, text) => {
  expect(format.formatRate(value)).toBe(text);
});

test("formatTime() is the local time of day, and empty for an invalid time", () => {
  const noon = new Date(2026, 10, 23, 12, 4, 9);
  expect(format.formatTime(noon.toISOString())).toBe("12:04:09");
  expect(format.formatTime("soon")).toBe("");
});

test("formatWord() takes words apart and leaves names alone", () => {
  expect(format.formatWord("transientFailure")).toBe("transient failure");
  expect(format.formatWord("requeue_after")).toBe("requeue after");
  expect(format.formatWord("node-route-controller")).toBe("node-route-controller");
});

test("formatCount() knows one from many", () => {
  expect(format.formatCount(1, "Node")).toBe("1 Node");
  expect(format.formatCount(5_000, "Node")).toBe("5,000 Nodes");
  expect(format.formatCount(0, "entry", "entries")).toBe("0 entries");
});
