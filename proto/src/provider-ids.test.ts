import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { InstanceMap, isOneProvider, isSameInstance } from "./provider-ids.ts";

interface Vector {
  readonly one: string;
  readonly other: string;
  readonly same: boolean;
}

const file: { readonly vectors: readonly Vector[] } = JSON.parse(
  readFileSync(new URL("../vectors/provider-ids.json", import.meta.url), "utf8"),
);

describe("isSameInstance()", () => {
  test.each(file.vectors)("is $same for $one and $other, in both orders (case N-2)", ({ one, other, same }) => {
    expect([isSameInstance(one, other), isSameInstance(other, one)]).toEqual([same, same]);
  });
});

describe("isOneProvider()", () => {
  test.each([
    { one: "acme://1", other: "ACME://2", prefixes: [], is: true },
    { one: "acme://1", other: "old://1", prefixes: [], is: false },
    { one: "acme://1", other: "old://1", prefixes: ["acme://eu/", "old://"], is: true },
    { one: "acme://1", other: "beta://1", prefixes: ["acme://", "old://"], is: false },
  ])("is $is for $one and $other with $prefixes", ({ one, other, prefixes, is }) => {
    expect(isOneProvider(one, other, prefixes)).toBe(is);
  });
});

describe("InstanceMap", () => {
  test("finds an instance by each form of its ID, and never another provider's", () => {
    const map = new InstanceMap<string>();
    map.add("aws:///eu-1a/i-1", "a");
    map.add("beta://i-1", "b");
    map.add("gce://p/zone-a/vm", "c");
    map.add("", "none");
    const ids = ["aws:///I-1", "aws:///eu-1a/i-1", "aws:///eu-1b/i-1", "gce://p/zone-b/vm", "gce:///vm", "", "x://i-1"];
    expect(ids.map((id) => map.get(id))).toEqual([["a"], ["a"], [], [], ["c"], [], []]);
    expect(map.get("x://i-1", ["x://", "beta://"])).toEqual(["b"]);
  });

  test("delete() removes one value of an instance", () => {
    const map = new InstanceMap<string>();
    map.add("acme://1", "a");
    map.add("acme://zone/1", "b");
    map.delete("acme://1", "a");
    expect([map.get("acme://1"), map.has("acme://1")]).toEqual([["b"], true]);
    map.delete("acme://zone/1", "b");
    expect(map.has("acme://1")).toBe(false);
    map.delete("acme://1", "b");
  });
});
