import { describe, expect, test } from "vitest";
import { addressAt, allowList, parseNetwork, sizeOf, subnetAt } from "./addresses.ts";

const cidr = (text: string) => {
  const parsed = parseNetwork(text);
  if (!parsed) throw new Error(`${text} must parse`);
  return parsed;
};

describe("parseNetwork()", () => {
  test.each([
    ["10.0.0.0/8", "10.0.0.0/8"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["192.168.1.7/32", "192.168.1.7/32"],
    ["2001:DB8::/32", "2001:db8::/32"],
    ["0:0:0:0:0:0:0:0/0", "::/0"],
    ["fd00:0:0:1:0:0:0:0/64", "fd00:0:0:1::/64"],
    ["::ffff:10.0.0.0/104", "10.0.0.0/8"],
  ])("reads %s as %s", (text, canonical) => {
    expect(parseNetwork(text)?.text).toBe(canonical);
  });

  test.each([
    "",
    "10.0.0.0",
    "10.0.0.0/33",
    "10.0.0.1/8",
    "10.0.0.0/08x",
    "10.0.0.0/8/8",
    "fd00::1/64",
    "fd00::/129",
    "x/8",
  ])("refuses %j", (text) => {
    expect(parseNetwork(text)).toBeUndefined();
  });
});

describe("positions in a network", () => {
  test.each([
    ["127.10.0.0/16", 1, "127.10.0.1"],
    ["127.10.0.0/16", 65_534, "127.10.255.254"],
    ["fd51:51::/96", 5000, "fd51:51::1388"],
  ])("addressAt() of %s at %i is %s", (network, position, address) => {
    expect(addressAt(cidr(network), position)).toBe(address);
  });

  test("subnetAt() cuts a network in equal parts", () => {
    expect([0, 1, 300].map((position) => subnetAt(cidr("10.128.0.0/9"), 24, position))).toEqual([
      "10.128.0.0/24",
      "10.128.1.0/24",
      "10.129.44.0/24",
    ]);
    expect(subnetAt(cidr("fd52::/32"), 64, 5000)).toBe("fd52:0:0:1388::/64");
  });

  test("sizeOf() counts all addresses", () => {
    expect(sizeOf(cidr("127.20.0.0/16"))).toBe(65_536n);
  });
});

describe("allowList()", () => {
  test.each([
    [[], "192.0.2.1", true],
    [["127.0.0.0/8"], "127.3.4.5", true],
    [["127.0.0.0/8"], "::ffff:127.3.4.5", true],
    [["10.0.0.0/8"], "127.0.0.1", false],
    [["10.0.0.0/8", "fd00::/8"], "fd00::7", true],
    [["fd00::/8"], "127.0.0.1", false],
  ])("of %j for %s says %s", (ranges, address, allowed) => {
    expect(allowList(ranges)(address)).toBe(allowed);
  });
});
