import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalCidr, canonicalIp, contains, overlaps, parseCidr } from "./cidr.ts";

describe("parseCidr()", () => {
  test.each([
    ["10.120.62.5/24", "10.120.62.0/24"],
    ["10.120.0.0/15", "10.120.0.0/15"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["192.0.2.7/32", "192.0.2.7/32"],
    ["FD00:0:0:1::/64", "fd00:0:0:1::/64"],
    ["fd00:0000::1/48", "fd00::/48"],
    ["::/0", "::/0"],
    ["::1/128", "::1/128"],
    ["1::/128", "1::/128"],
    ["1:0:0:2:0:0:0:3/128", "1:0:0:2::3/128"],
    ["1:0:0:2:0:0:3:4/128", "1::2:0:0:3:4/128"],
    ["1:0:2:3:4:5:6:7/128", "1:0:2:3:4:5:6:7/128"],
    ["100:20:3000:0400:0:0:10:a00/128", "100:20:3000:400::10:a00/128"],
    ["2001:db8::10.0.0.1/128", "2001:db8::a00:1/128"],
  ])("reads %s as %s", (text, canonical) => {
    expect(parseCidr(text)?.text).toBe(canonical);
  });

  test.each([
    ["10.0.0.1/8", "10.0.0.0/8"],
    ["010.0.0.0/8", "10.0.0.0/8"],
    ["010.120.008.000/024", "10.120.8.0/24"],
    ["00.0.0.0/0", "0.0.0.0/0"],
    ["::ffff:10.0.0.0/104", "10.0.0.0/8"],
    ["::FFFF:0a00:1/128", "10.0.0.1/32"],
    ["::ffff:010.0.0.1/128", "10.0.0.1/32"],
    ["::ffff:0:0/96", "0.0.0.0/0"],
    ["::ffff:0:0/95", "::fffe:0:0/95"],
    ["2001:00DB8::/32", "2001:db8::/32"],
    ["2001:DB8:0:0::/32", "2001:db8::/32"],
  ])("reads %s as %s, as Go's ParseCIDRSloppy does (case V-2)", (text, canonical) => {
    expect([parseCidr(text)?.text, canonicalCidr(text)]).toEqual([canonical, canonical]);
  });

  test.each([
    "",
    "10.0.0.0",
    "0x10.0.0.0/8",
    "256.0.0.0/8",
    "::ffff:10.0.0.0/129",
    "10.0.0.0/33",
    "fd00::/129",
    "10.0.0/8",
    "10.0.0.0/-1",
    "fe80::1%eth0/64",
    "a/8",
    "10.0.0.0/8/8",
    "x/10.0.0.0/8",
    "10.0.0.0/8x",
  ])("refuses %o", (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });

  test("reads its own IPv6 texts as the same range, spelled as RFC 5952 has it", () => {
    const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 65_535 }));
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const text = groups.map((one) => one.toString(16)).join(":");
        const range = parseCidr(`${text}/128`);
        expect(parseCidr(range?.text ?? "")).toEqual(range);
        expect(range?.text).toBe(`${new URL(`http://[${text}]`).hostname.slice(1, -1)}/128`);
      }),
    );
  });

  test("gives equal texts exactly to equal ranges", () => {
    const octet = fc.integer({ min: 0, max: 255 });
    const range = fc.tuple(octet, octet, octet, octet, fc.integer({ min: 0, max: 32 }));
    fc.assert(
      fc.property(range, range, ([a, b, c, d, length], [e, f, g, h, other]) => {
        const one = parseCidr(`${a}.${b}.${c}.${d}/${length}`);
        const two = parseCidr(`${e}.${f}.${g}.${h}/${other}`);
        expect(one?.text === two?.text).toBe(one?.first === two?.first && one?.last === two?.last);
      }),
    );
  });
});

describe("contains()", () => {
  test.each([
    ["10.0.0.0/8", "10.120.0.0/16", true],
    ["10.120.0.0/16", "10.120.0.0/16", true],
    ["10.120.0.0/16", "10.120.0.0/15", false],
    ["10.120.0.0/16", "10.0.0.0/8", false],
    ["10.120.0.0/16", "10.121.0.0/24", false],
    ["fd00::/48", "fd00:0:0:5::/64", true],
    ["::/0", "10.0.0.0/8", false],
  ])("%s contains %s: %s", (outer, inner, expected) => {
    const [one, two] = [parseCidr(outer), parseCidr(inner)];
    expect(one && two && contains(one, two)).toBe(expected);
  });
});

describe("canonicalIp()", () => {
  test.each([
    ["010.0.0.1", "10.0.0.1"],
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["2001:DB8:0::1", "2001:db8::1"],
    ["10.0.0.0/8", "10.0.0.0/8"],
    ["host-1", "host-1"],
    ["", ""],
  ])("of %s is %s (case V-2)", (text, canonical) => {
    expect(canonicalIp(text)).toBe(canonical);
  });
});

describe("overlaps()", () => {
  test.each([
    ["10.0.0.0/8", "10.120.0.0/16", true],
    ["10.120.0.0/16", "10.0.0.0/8", true],
    ["10.120.0.0/16", "10.120.0.0/16", true],
    ["10.120.0.0/16", "10.121.0.0/16", false],
    ["::/0", "10.0.0.0/8", false],
  ])("%s and %s: %s", (one, other, expected) => {
    const [left, right] = [parseCidr(one), parseCidr(other)];
    expect(left && right && overlaps(left, right)).toBe(expected);
  });
});
