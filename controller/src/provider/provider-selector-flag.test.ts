import { describe, expect, test } from "vitest";
import { type ProviderSelectors, providerFlags } from "./options.ts";

const before: ProviderSelectors = new Map([["west", { text: "a", requirements: [{ kind: "exists", key: "a" }] }]]);

describe("providerFlags.providerNodeSelector.parse()", () => {
  test("adds a selector to those of other providers", () => {
    expect(providerFlags.providerNodeSelector.parse("east=example.com/cloud=east,!edge", before)).toEqual({
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
    const parsed = providerFlags.providerNodeSelector.parse(text, before);
    expect(parsed).toEqual({ kind: "problem", problem: expect.stringContaining(problem) });
  });
});
