import { describe, expect, test } from "vitest";
import { canonicalMicroTime, canonicalTime, formatTime } from "./time.ts";

describe("canonicalTime()", () => {
  test.each([
    ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"],
    ["2026-01-01T00:00:00.999Z", "2026-01-01T00:00:00Z"],
    ["2026-01-01T01:30:00+01:30", "2026-01-01T00:00:00Z"],
  ])("reads %s as %s", (text, expected) => {
    expect(canonicalTime(text)).toBe(expected);
  });

  test.each(["", "yesterday", "2026-01-01", "2026-01-01 00:00:00Z", "2026-13-01T00:00:00Z"])("refuses %j", (text) => {
    expect(canonicalTime(text)).toBeUndefined();
  });
});

describe("canonicalMicroTime()", () => {
  test.each([
    ["2026-01-01T00:00:00.000001Z", "2026-01-01T00:00:00.000001Z"],
    ["2026-01-01T01:00:00.120000+01:00", "2026-01-01T00:00:00.120000Z"],
  ])("reads %s as %s", (text, expected) => {
    expect(canonicalMicroTime(text)).toBe(expected);
  });

  test.each(["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123Z", "2026-01-01T00:00:00.1234567Z"])(
    "refuses %s, which has not six digits",
    (text) => {
      expect(canonicalMicroTime(text)).toBeUndefined();
    },
  );
});

test("formatTime() drops what is less than a second", () => {
  expect(formatTime(Date.UTC(2026, 0, 1, 2, 3, 4, 999))).toBe("2026-01-01T02:03:04Z");
});
