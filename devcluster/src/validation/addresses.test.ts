import { expect, test } from "vitest";
import { isAddress, isCidr, looksLikeAddress, toBits } from "./addresses.ts";

test.each([
  ["10.0.0.1", []],
  ["fd00::1", []],
  ["010.0.0.1", ["must not have leading 0s"]],
  ["::ffff:10.0.0.1", ["must not be an IPv4-mapped IPv6 address"]],
  ["x", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]],
  ["fe80::1%eth0", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]],
])("isAddress(%s)", (value, details) => {
  expect(isAddress("f", value).map(({ detail }) => detail)).toEqual(details);
});

test.each([
  ["10.0.0.0/8", []],
  ["0.0.0.0/0", []],
  ["fd00::/64", []],
  ["10.0.0.1/8", ["must not have bits set beyond the prefix length"]],
  ["fd00::1/64", ["must not have bits set beyond the prefix length"]],
  ["10.0.0.0", ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]],
  ["10.0.0.0/33", ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]],
  ["10.0.0.0/08", ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]],
])("isCidr(%s)", (value, details) => {
  expect(isCidr("f", value).map(({ detail }) => detail)).toEqual(details);
});

test.each([
  ["10.0.0.1", true],
  ["010.0.0.1", true],
  ["::1", true],
  ["a.b", false],
])("looksLikeAddress(%s) is %s", (value, expected) => {
  expect(looksLikeAddress(value)).toBe(expected);
});

test("toBits() writes out both families", () => {
  expect(toBits("10.0.0.1")).toBe("00001010000000000000000000000001");
  expect(toBits("::1")).toBe("1".padStart(128, "0"));
  expect(toBits("fd00::").slice(0, 16)).toBe("1111110100000000");
});
