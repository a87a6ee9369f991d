import { describe, expect, test } from "vitest";
import { isUnspecified, parseIp } from "./ip-address.ts";

describe("parseIp()", () => {
  test.each([
    { it: "reads dotted IPv4", text: "10.0.0.1", family: "IPv4", as: "10.0.0.1" },
    { it: "takes leading zeros as decimal", text: "010.000.00.09", family: "IPv4", as: "10.0.0.9" },
    { it: "reads the largest octets", text: "255.255.255.255", family: "IPv4", as: "255.255.255.255" },
    { it: "spells IPv6 in full", text: "2001:DB8::1", family: "IPv6", as: "2001:db8:0:0:0:0:0:1" },
    { it: "reads IPv6 without compression", text: "1:2:3:4:5:6:7:8", family: "IPv6", as: "1:2:3:4:5:6:7:8" },
    { it: "reads the unspecified IPv6 address", text: "::", family: "IPv6", as: "0:0:0:0:0:0:0:0" },
    { it: "reads compression of one group", text: "1:2:3:4:5:6::8", family: "IPv6", as: "1:2:3:4:5:6:0:8" },
    {
      it: "leaves an address with ffff before IPv4 alone that is not mapped",
      text: "1::ffff:10.0.0.1",
      family: "IPv6",
      as: "1:0:0:0:0:ffff:a00:1",
    },
    { it: "reads compression at the end", text: "fe80::", family: "IPv6", as: "fe80:0:0:0:0:0:0:0" },
    {
      it: "reads IPv4 at the end of IPv6",
      text: "64:ff9b::192.1.2.33",
      family: "IPv6",
      as: "64:ff9b:0:0:0:0:c001:221",
    },
    {
      it: "reads IPv4 at the end of IPv6 without compression",
      text: "64:ff9b:0:0:0:0:192.1.2.33",
      family: "IPv6",
      as: "64:ff9b:0:0:0:0:c001:221",
    },
    { it: "takes a mapped address for IPv4", text: "::ffff:10.0.0.1", family: "IPv4", as: "10.0.0.1" },
    { it: "takes a mapped address in hex for IPv4", text: "::FFFF:0a00:0001", family: "IPv4", as: "10.0.0.1" },
  ])("$it", ({ text, family, as }) => {
    expect(parseIp(text)).toEqual({ family, text: as });
  });

  test.each([
    "",
    "10.0.0",
    "10.0.0.1.2",
    "10.0.0.256",
    "10.0.0.-1",
    "10.0.0.1 ",
    "10.0.0.",
    "host",
    "fe80::1%eth0",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1::2::3",
    "1:2:3:4:5:6:7::8",
    ":1:2:3:4:5:6:7",
    "12345::",
    "1.2.3.4::1",
    "::1.2.3.4:1",
    "g::1",
  ])("answers undefined for %j", (text) => {
    expect(parseIp(text)).toBeUndefined();
  });
});

describe("isUnspecified()", () => {
  test.each([
    { text: "0.0.0.0", is: true },
    { text: "::", is: true },
    { text: "::ffff:0.0.0.0", is: true },
    { text: "0.0.0.1", is: false },
    { text: "::1", is: false },
  ])("is $is for $text", ({ text, is }) => {
    const ip = parseIp(text);
    expect(ip === undefined ? undefined : isUnspecified(ip)).toBe(is);
  });
});
