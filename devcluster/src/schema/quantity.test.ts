import { describe, expect, test } from "vitest";
import { canonicalQuantity, roundUpToMilli } from "./quantity.ts";

describe("canonicalQuantity()", () => {
  test.each([
    ["0", "0"],
    ["-0", "0"],
    ["1", "1"],
    ["+1", "+1"],
    ["1000m", "1"],
    ["1500m", "1500m"],
    ["0.5", "500m"],
    [".5", "500m"],
    ["5.", "5."],
    ["5000", "5k"],
    ["1000k", "1M"],
    ["1024", "1024"],
    ["1024Ki", "1Mi"],
    ["1000Ki", "1000Ki"],
    ["16384Mi", "16Gi"],
    ["1.5Gi", "1536Mi"],
    ["0.5Ki", "512"],
    ["1e3", "1e3"],
    ["1E3", "1E3"],
    ["12e-1", "1200e-3"],
    ["100e-3", "100e-3"],
    ["1n", "1n"],
    ["0.1n", "1n"],
    ["-1.5", "-1500m"],
    ["2E", "2E"],
  ])("reads %s as %s", (text, expected) => {
    expect(canonicalQuantity(text)).toBe(expected);
  });

  test.each(["", "lots", "1x", "1 Gi", "--1", "1.2.3", "Ki", "1e", "1KI"])("refuses %j", (text) => {
    expect(canonicalQuantity(text)).toBeUndefined();
  });
});

test.each([
  ["1n", "1m"],
  ["1.0000000001", "1001m"],
  ["1500m", "1500m"],
  ["2Gi", "2Gi"],
  ["-1n", "-1m"],
])("roundUpToMilli(%s) is %s", (text, expected) => {
  expect(roundUpToMilli(text)).toBe(expected);
});
