import { describe, expect, test } from "vitest";
import { PodRanges } from "./pod-ranges.ts";

const ranges = new PodRanges(["10.120.0.0/16", "2001:db8::/32"]);

describe("PodRanges", () => {
  test.each([
    ["10.120.1.0/24", true],
    ["10.120.0.0/16", true],
    ["10.121.1.0/24", false],
    ["0.0.0.0/0", false],
    ["10.120.0.0/15", false],
    ["2001:db8:1::/64", true],
    ["2001:db9::/64", false],
    ["10.120.1.0", false],
  ])("has %s: %s", (cidr, expected) => {
    expect(ranges.has(cidr)).toBe(expected);
  });

  test("tells its families, and itself", () => {
    expect(new PodRanges(["2001:db8::/32", "10.120.0.0/16"]).families).toEqual(["IPv4", "IPv6"]);
    expect(new PodRanges(["2001:db8::/32"]).families).toEqual(["IPv6"]);
    expect(ranges.toString()).toBe("10.120.0.0/16, 2001:db8::/32");
  });

  test("refuses what is no range", () => {
    expect(() => new PodRanges(["10.0.0.0"])).toThrow(TypeError);
  });
});
