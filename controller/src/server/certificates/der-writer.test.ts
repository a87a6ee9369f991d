import { describe, expect, test } from "vitest";
import * as der from "./der-writer.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

test.each([
  { what: "an empty sequence", bytes: der.sequence(), wanted: "3000" },
  { what: "a sequence", bytes: der.sequence(der.TRUE, der.integer(Uint8Array.of(2))), wanted: "30060101ff020102" },
  { what: "a set", bytes: der.set(der.utf8String("ü")), wanted: "31040c02c3bc" },
  { what: "a bit string", bytes: der.bitString(Uint8Array.of(0x84), 2), wanted: "03020284" },
  { what: "an explicit tag", bytes: der.explicit(3, der.TRUE), wanted: "a3030101ff" },
  { what: "an implicit tag", bytes: der.implicit(7, Uint8Array.of(127, 0, 0, 1)), wanted: "87047f000001" },
  {
    what: "a time",
    bytes: der.utcTime(Date.UTC(2026, 0, 2, 3, 4, 5, 999)),
    wanted: `170d${hex(Buffer.from("260102030405Z"))}`,
  },
  // X.690 8.19.5 and RFC 5758.
  { what: "an identifier", bytes: der.objectIdentifier("2.5.29.17"), wanted: "0603551d11" },
  { what: "a longer one", bytes: der.objectIdentifier("1.2.840.10045.4.3.2"), wanted: "06082a8648ce3d040302" },
])("writes $what", ({ bytes, wanted }) => {
  expect(hex(bytes)).toBe(wanted);
});

describe("element()", () => {
  test.each([
    { length: 127, head: "047f" },
    { length: 128, head: "048180" },
    { length: 255, head: "0481ff" },
    { length: 256, head: "04820100" },
    { length: 65_536, head: "0483010000" },
  ])("gives $length bytes the head $head", ({ length, head }) => {
    const bytes = der.octetString(new Uint8Array(length));
    expect([hex(bytes).slice(0, head.length), bytes.length]).toEqual([head, length + head.length / 2]);
  });
});
