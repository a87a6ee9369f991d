import { describe, expect, test } from "vitest";
import { PodCidrs } from "./pod-cidrs.ts";

const podCidrs = new PodCidrs(["10.120.0.0/16", "2001:db8::/32"]);

describe("PodCidrs", () => {
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
    expect(podCidrs.has(cidr)).toBe(expected);
  });

  test("reports its IP families and its text", () => {
    expect(new PodCidrs(["2001:db8::/32", "10.120.0.0/16"]).families).toEqual(["IPv4", "IPv6"]);
    expect(new PodCidrs(["2001:db8::/32"]).families).toEqual(["IPv6"]);
    expect(podCidrs.toString()).toBe("10.120.0.0/16, 2001:db8::/32");
  });

  test("rejects an invalid CIDR", () => {
    expect(() => new PodCidrs(["10.0.0.0"])).toThrow(TypeError);
  });
});
