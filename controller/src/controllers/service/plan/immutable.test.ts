import { describe, expect, test } from "vitest";
import { service } from "../../../../test/support/builders.ts";
import { immutableChanges } from "./immutable.ts";

const SIZE = "acme.example.com/size";
const schema = (parts: { readonly isMutable?: boolean; readonly defaultValue?: string } = {}) => ({
  key: SIZE,
  isMutable: false,
  defaultValue: undefined,
  ...parts,
});
const of = (value: string | undefined) =>
  service("web", { metadata: { annotations: value === undefined ? {} : { [SIZE]: value } } });

describe("immutableChanges()", () => {
  test.each([
    { it: "another value", was: "1", is: "2", declared: schema(), stays: '"1"' },
    { it: "a value that is removed", was: "1", is: undefined, declared: schema(), stays: '"1"' },
    { it: "a value that is added", was: undefined, is: "1", declared: schema(), stays: "unset" },
    { it: "a default that is left", was: undefined, is: "1", declared: schema({ defaultValue: "0" }), stays: '"0"' },
  ])("refuses $it, and reports what stays in force (case S-6)", ({ was, is, declared, stays }) => {
    expect(immutableChanges(of(was), of(is), [declared])).toEqual([
      {
        feature: "ImmutableAnnotation",
        field: `metadata.annotations["${SIZE}"]`,
        message: `the provider sets it only when it creates the load balancer, and it stays ${stays}: change it back, or recreate the Service`,
        effect: "refused",
      },
    ]);
  });

  test.each([
    { it: "a mutable annotation", was: "1", is: "2", declared: schema({ isMutable: true }) },
    { it: "the same value", was: "1", is: " 1 ", declared: schema() },
    { it: "an empty value, which means unset (case S-6)", was: undefined, is: " ", declared: schema() },
    { it: "the default, spelled out", was: undefined, is: "0", declared: schema({ defaultValue: "0" }) },
    {
      it: "an annotation that is not declared",
      was: "1",
      is: "2",
      declared: { ...schema(), key: "acme.example.com/other" },
    },
  ])("allows $it", ({ was, is, declared }) => {
    expect(immutableChanges(of(was), of(is), [declared])).toEqual([]);
  });
});
