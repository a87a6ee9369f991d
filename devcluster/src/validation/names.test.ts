import { describe, expect, test } from "vitest";
import { dnsLabel, dnsSubdomain, isConfigMapKey, isLabelValue, portName, portNumber, qualifiedName } from "./names.ts";

describe("names that are fine", () => {
  test.each([
    ["dnsSubdomain", dnsSubdomain, ["a", "a-1.b", "x".repeat(253)]],
    ["dnsLabel", dnsLabel, ["a", "1-a", "x".repeat(63)]],
    ["isLabelValue", isLabelValue, ["", "A_b.c-1", "x".repeat(63)]],
    ["qualifiedName", qualifiedName, ["A", "a.b/C_d", `a/${"x".repeat(63)}`]],
    ["isConfigMapKey", isConfigMapKey, ["a", ".a", "A_b.c", "x".repeat(253)]],
    ["portName", portName, ["http", "a-1", "x".repeat(15)]],
  ])("%s", (_, rule, values) => {
    expect(values.flatMap((value) => rule(value))).toEqual([]);
  });
});

describe("names that are not", () => {
  test.each([
    ["dnsSubdomain", dnsSubdomain, "A", 1],
    ["dnsSubdomain", dnsSubdomain, "", 1],
    ["dnsSubdomain", dnsSubdomain, "X".repeat(254), 2],
    ["dnsLabel", dnsLabel, "-a", 1],
    ["isLabelValue", isLabelValue, "-a", 1],
    ["qualifiedName", qualifiedName, "a/b/c", 1],
    ["qualifiedName", qualifiedName, "/b", 1],
    ["qualifiedName", qualifiedName, "A/b", 1],
    ["qualifiedName", qualifiedName, "", 2],
    ["qualifiedName", qualifiedName, "x".repeat(64), 1],
    ["isConfigMapKey", isConfigMapKey, "a b", 1],
    ["isConfigMapKey", isConfigMapKey, "..", 1],
    ["isConfigMapKey", isConfigMapKey, "..a", 1],
    ["portName", portName, "-a--b-", 2],
    ["portName", portName, "123", 1],
    ["portName", portName, "x".repeat(16), 1],
  ])("%s(%j, %j) has %i complaints", (_, rule, value, count) => {
    expect(rule(value)).toHaveLength(count);
  });

  test("dnsLabel() says so when only dots are wrong", () => {
    expect(dnsLabel("a.b")).toEqual(["must not contain dots"]);
  });
});

test.each([
  [0, 1],
  [1, 0],
  [65_535, 0],
  [65_536, 1],
])("portNumber(%i) has %i complaints", (port, count) => {
  expect(portNumber(port)).toHaveLength(count);
});
