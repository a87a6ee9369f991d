import { describe, expect, test } from "vitest";
import { isLabelKey, isLabelValue } from "./label-syntax.ts";

const LONG = "a".repeat(63);
const DOMAIN = `${"a.".repeat(126)}b`;

describe("isLabelKey()", () => {
  test.each([
    "a",
    "A.b_c-d",
    LONG,
    "example.com/a",
    `x/${LONG}`,
    `${DOMAIN}/a`,
    "1.2/3",
    "a-b.c/d",
    "topology.kubernetes.io/zone",
  ])("takes %s", (key) => {
    expect(isLabelKey(key)).toBe(true);
  });

  test.each([
    "",
    "-a",
    "a-",
    ".a",
    "a b",
    `${LONG}a`,
    "/a",
    "a/",
    "a/b/c",
    "Example.com/a",
    "a..b/c",
    "-a/b",
    "a-/b",
    "a./b",
    "a_b/c",
    `${DOMAIN}b/a`,
    `x/${LONG}a`,
  ])("refuses %j", (key) => {
    expect(isLabelKey(key)).toBe(false);
  });
});

describe("isLabelValue()", () => {
  test.each(["", "a", "A.b_c-9", "north-a__north-b", LONG])("takes %j", (value) => {
    expect(isLabelValue(value)).toBe(true);
  });

  test.each(["-a", "a-", "_a", "a_", "a b", "a/b", `${LONG}a`, "ö"])("refuses %j", (value) => {
    expect(isLabelValue(value)).toBe(false);
  });
});
