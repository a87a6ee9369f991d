import { describe, expect, test } from "vitest";
import { type ProviderSelectors, providerSelectorFlag } from "./provider-selector-flag.ts";

const before: ProviderSelectors = new Map([["west", { text: "a", requirements: [{ kind: "exists", key: "a" }] }]]);

describe("providerSelectorFlag.parse()", () => {
  test("adds a selector to those of other providers", () => {
    expect(providerSelectorFlag.parse("east=example.com/cloud=east,!edge", before)).toEqual({
      kind: "value",
      value: new Map([
        ...before,
        [
          "east",
          {
            text: "example.com/cloud=east,!edge",
            requirements: [
              { kind: "in", key: "example.com/cloud", values: ["east"] },
              { kind: "notExists", key: "edge" },
            ],
          },
        ],
      ]),
    });
  });

  test.each([
    ["east", '"east" names no provider; write NAME=SELECTOR'],
    ["=cloud=east", '"=cloud=east" names no provider'],
    ["west=b", 'provider "west" is given a selector twice; join them with a comma'],
    ["east=cloud=a=b", 'the selector of provider "east" cannot be read: '],
    ["east=", 'the selector of provider "east" is empty and would match every node'],
  ] as const)("refuses %j", (text, problem) => {
    const parsed = providerSelectorFlag.parse(text, before);
    expect(parsed).toEqual({ kind: "problem", problem: expect.stringContaining(problem) });
  });
});
