import { expect, test } from "vitest";
import { humanDuration, since } from "./columns.ts";

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

test.each([
  [-5, "<invalid>"],
  [-1, "0s"],
  [0.9, "0s"],
  [119, "119s"],
  [2 * minute, "2m"],
  [2 * minute + 1, "2m1s"],
  [10 * minute + 1, "10m"],
  [179 * minute, "179m"],
  [3 * hour, "3h"],
  [3 * hour + 5 * minute, "3h5m"],
  [8 * hour + 5 * minute, "8h"],
  [47 * hour, "47h"],
  [2 * day + hour, "2d1h"],
  [8 * day + hour, "8d"],
  [2 * year, "2y"],
  [2 * year + day, "2y1d"],
  [9 * year, "9y"],
])("humanDuration(%i) is %s", (seconds, expected) => {
  expect(humanDuration(seconds)).toBe(expected);
});

test("since() knows no age without a time", () => {
  expect([since(undefined, 0), since(null, 0), since("1970-01-01T00:00:00Z", 90_000)]).toEqual([
    "<unknown>",
    "<unknown>",
    "90s",
  ]);
});
