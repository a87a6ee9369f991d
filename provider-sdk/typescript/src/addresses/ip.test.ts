import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AddressRange,
  canonicalAddress,
  canonicalCidr,
  canonicalRanges,
  contains,
  formatAddress,
  overlap,
  parseCidr,
  parseRange,
  positionOf,
} from "./ip.ts";

test.each([
  ["10.0.0.1", "10.0.0.1"],
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
  ["::ffff:10.0.0.1", "10.0.0.1"],
  ["fe80::1%eth0", undefined],
  ["10.0.0.256", undefined],
  ["web", undefined],
])("canonicalAddress(%s) is %s", (text, expected) => {
  expect(canonicalAddress(text)).toBe(expected);
});

interface Vector {
  readonly text: string;
  readonly canonical?: string;
}

const file: { readonly vectors: readonly Vector[] } = JSON.parse(
  readFileSync(new URL("../../../../proto/vectors/cidrs.json", import.meta.url), "utf8"),
);

test.each(file.vectors)("canonicalCidr($text) is $canonical, as in all SDKs (case S-1)", ({ text, canonical }) => {
  expect([parseCidr(text)?.text, canonicalCidr(text)]).toEqual([canonical, canonical ?? text]);
});

test.each([
  ["10.1.2.3/8", "10.0.0.0/8"],
  ["fd00::1/64", "fd00::/64"],
  ["0.0.0.0/0", "0.0.0.0/0"],
  ["10.0.0.0/33", undefined],
  ["10.0.0.0", undefined],
  ["10.0.0.0/8; flush ruleset", undefined],
])("parseCidr(%s) is %s", (text, expected) => {
  expect(parseCidr(text)?.text).toBe(expected);
});

const read = (text: string): AddressRange => {
  const range = parseRange(text);
  if (range === undefined) throw new Error(`${text} is no range`);
  return range;
};

describe("parseRange()", () => {
  test.each([
    ["192.0.2.10-192.0.2.12", "192.0.2.10", "192.0.2.12"],
    ["192.0.2.10", "192.0.2.10", "192.0.2.10"],
    ["2001:db8::/126", "2001:db8::", "2001:db8::3"],
  ])("reads %s", (text, first, last) => {
    const range = read(text);
    expect([formatAddress(range.family, range.first), formatAddress(range.family, range.last)]).toEqual([first, last]);
    expect([contains(range, first), contains(range, "203.0.113.1")]).toEqual([true, false]);
  });
  test.each([
    "192.0.2.12-192.0.2.10",
    "192.0.2.1-2001:db8::1",
    "1-2-3",
    "",
    "lan",
    "fe80::1%eth0",
    "fe80::1-fe80::2%eth0",
  ])("refuses %s", (text) => {
    expect(parseRange(text)).toBeUndefined();
  });
});

test.each([
  ["10.0.0.0/24", "10.0.0.255", true],
  ["10.0.0.0/24", "10.0.1.0/24", false],
  ["0.0.0.0/0", "::/0", false],
])("overlap(%s, %s) is %s", (one, other, expected) => {
  expect(overlap(read(one), read(other))).toBe(expected);
});

test("formatAddress() and canonicalAddress() agree on every address", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), (value) => {
      const text = formatAddress(6, value);
      expect(canonicalAddress(text)).toBe(text);
    }),
  );
});

test("positionOf() and formatAddress() agree in every range", () => {
  const networks = ["127.20.0.0/16", "198.18.0.0/15", "2001:db8:51::/96"].map(read);
  fc.assert(
    fc.property(fc.constantFrom(...networks), fc.bigInt({ min: 0n, max: 65_535n }), (network, position) => {
      expect(positionOf(network, formatAddress(network.family, network.first + position))).toBe(position);
    }),
  );
});

test.each([
  ["127.20.0.0/16", "127.21.0.0"],
  ["127.20.0.0/16", "::1"],
  ["127.20.0.0/16", "no address"],
  ["fe80::/10", "fe80::1%eth0"],
])("positionOf() knows that %s does not have %s", (range, address) => {
  expect(positionOf(read(range), address)).toBeUndefined();
});

test.each([
  [["2001:DB8:0:0::/32", "2001:db8::/32"], ["2001:db8::/32"]],
  [
    ["10.1.2.3/16", "10.0.0.0/8", "192.0.2.1/32"],
    ["10.0.0.0/8", "192.0.2.1/32"],
  ],
  [
    ["::/0", "2001:db8::/32", "0.0.0.0/0"],
    ["0.0.0.0/0", "::/0"],
  ],
  [
    ["nonsense", "10.0.0.0/8"],
    ["10.0.0.0/8", "nonsense"],
  ],
  [[], []],
])("canonicalRanges(%j) is %j (case S-1)", (texts, expected) => {
  expect(canonicalRanges(texts)).toEqual(expected);
});

test("canonicalRanges() has the same addresses in any order and spelling (case S-1)", () => {
  const cidr = fc
    .tuple(fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }), fc.integer({ min: 0, max: 32 }))
    .map(([value, length]) => `${formatAddress(4, value)}/${length}`);
  fc.assert(
    fc.property(fc.array(cidr, { maxLength: 6 }), fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }), (texts, value) => {
      const ranges = canonicalRanges(texts);
      expect(canonicalRanges(texts.toReversed())).toEqual(ranges);
      expect(canonicalRanges(ranges)).toEqual(ranges);
      const address = formatAddress(4, value);
      const isIn = (list: readonly string[]): boolean => list.some((text) => contains(read(text), address));
      expect(isIn(ranges)).toBe(isIn(texts));
    }),
  );
});
