import { describe, expect, test } from "vitest";
import { canonicalIp, ipsAmong, isMachineName } from "./names.ts";

describe("isMachineName()", () => {
  test.each([
    "node-a",
    "a",
    "10-0-0-1.eu.compute.internal",
    "kubernetes-node-1",
    "svc-1.example",
    "localhost.example",
    "my-localhost",
    "my-kubernetes",
    "my-kubernetes.example",
    "my-localhost",
    "my-kubernetes",
    "my-kubernetes.example",
    "10.0.0.1",
    "a".repeat(63),
  ])("takes %s", (name) => {
    expect(isMachineName(name)).toBe(true);
  });

  test.each([
    "",
    "Node-a",
    "-a",
    "a-",
    "a..b",
    "a.",
    ".a",
    "*",
    "*.example",
    "a_b",
    "a b",
    "a\0b",
    "ä",
    "a:1",
    "a".repeat(254),
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "web.shop.svc",
    "web.shop.svc.cluster.local",
    "svc",
  ])("refuses %j", (name) => {
    expect(isMachineName(name)).toBe(false);
  });
});

describe("canonicalIp()", () => {
  test("gives equal addresses equal texts", () => {
    const spellings = ["fd00::1", "FD00:0:0::1", "fd00:0000:0000:0000:0000:0000:0000:0001"];
    expect(new Set(spellings.map(canonicalIp)).size).toBe(1);
    expect(canonicalIp("10.0.0.1")).not.toBe(canonicalIp("10.0.0.2"));
  });

  test.each(["", "node-a", "10.0.0", "10.0.0.1/32", "010.0.0.1", "fd00::1%eth0", "fd00:::1"])("refuses %j", (text) => {
    expect(canonicalIp(text)).toBeUndefined();
  });
});

test("ipsAmong() finds addresses of any type, in one spelling, and no names", () => {
  const addresses = [
    { type: "Hostname", address: "node-a" },
    { type: "InternalIP", address: "FD00:0::1" },
    { type: "Hostname", address: "10.0.0.1" },
  ];
  expect(ipsAmong(addresses)).toEqual(new Set(["fd00::1", "10.0.0.1"]));
});
