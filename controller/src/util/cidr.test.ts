import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contains, parseCidr } from "./cidr.ts";

describe("parseCidr()", () => {
  test.each([
    ["10.120.62.5/24", "10.120.62.0/24"],
    ["10.120.0.0/15", "10.120.0.0/15"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["192.0.2.7/32", "192.0.2.7/32"],
    ["FD00:0:0:1::/64", "fd00:0:0:1::/64"],
    ["fd00:0000::1/48", "fd00::/48"],
    ["::/0", "::/0"],
    ["2001:db8::10.0.0.1/128", "2001:db8::a00:1/128"],
  ])("reads %s as %s", (text, canonical) => {
    expect(parseCidr(text)?.text).toBe(canonical);
  });

  test.each([
    "",
    "10.0.0.0",
    "10.0.0.0/33",
    "fd00::/129",
    "10.0.0/8",
    "10.0.0.0/-1",
    "fe80::1%eth0/64",
    "a/8",
    "10.0.0.0/8/8",
  ])("refuses %o", (text) => {
    expect(parseCidr(text)).toBeUndefined();
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
