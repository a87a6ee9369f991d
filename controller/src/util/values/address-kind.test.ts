import { expect, test } from "vitest";
import { parseAddress } from "../cidr.ts";
import { specialKind } from "./address-kind.ts";

test.each([
  ["0.0.0.0", "unspecified"],
  ["0.1.2.3", "unspecified"],
  ["::", "unspecified"],
  ["::10.0.0.1", "unspecified"],
  ["127.0.0.1", "loopback"],
  ["127.255.255.255", "loopback"],
  ["::1", "loopback"],
  ["::ffff:127.0.0.1", "loopback"],
  ["169.254.169.254", "link-local"],
  ["fe80::1", "link-local"],
  ["febf::1", "link-local"],
  ["224.0.0.1", "multicast"],
  ["239.255.255.255", "multicast"],
  ["ff02::1", "multicast"],
  ["255.255.255.255", "broadcast"],
  ["10.0.0.1", undefined],
  ["100.64.0.1", undefined],
  ["192.0.2.1", undefined],
  ["fd00::1", undefined],
  ["fec0::1", undefined],
  ["2001:db8::1", undefined],
])("specialKind() of %s is %s", (text, kind) => {
  const address = parseAddress(text);
  expect(address && specialKind(address)).toBe(kind);
});

test.each(["", "a", "10.0.0", "10.0.0.1/32", "fe80::1%eth0"])("parseAddress() does not read %o", (text) => {
  expect(parseAddress(text)).toBeUndefined();
});
