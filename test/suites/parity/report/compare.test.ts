import { describe, expect, test } from "vitest";
import type { Claim } from "../scenario.ts";
import { differencesOf, classify } from "./compare.ts";

const facts = (entries: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(entries));

describe("differencesOf()", () => {
  test("finds what one side lacks and what both say otherwise, in the order of places", () => {
    const upstream = facts({ same: "1", other: "a", "only upstream": "x" });
    const ours = facts({ same: "1", other: "b", "only ours": "y" });
    expect(differencesOf(upstream, ours)).toEqual([
      { place: "only ours", upstream: undefined, ours: "y" },
      { place: "only upstream", upstream: "x", ours: undefined },
      { place: "other", upstream: "a", ours: "b" },
    ]);
  });
});

describe("classify()", () => {
  const explanations = { N1: [({ place }: { readonly place: string }) => place === "write"] };
  const difference = (place: string) => ({ place, upstream: "1", ours: "2" });

  test.each<[string, readonly string[], readonly Claim[], object]>([
    ["no difference and no claim", [], [], { explained: [], unexplained: [], idle: [] }],
    [
      "a difference that a claimed row explains",
      ["write"],
      ["N1"],
      { explained: [{ difference: difference("write"), id: "N1" }], unexplained: [], idle: [] },
    ],
    ["a difference that no one claims", ["write"], [], { explained: [], unexplained: [difference("write")], idle: [] }],
    [
      "a difference of which the claimed row does not speak",
      ["event"],
      ["N1"],
      { explained: [], unexplained: [difference("event")], idle: ["N1"] },
    ],
    ["a claim that shows in nothing", [], ["N1"], { explained: [], unexplained: [], idle: ["N1"] }],
    [
      "a claim that shows sometimes, and does not",
      [],
      [{ id: "S11", explains: /^event/, sometimes: true }],
      { explained: [], unexplained: [], idle: [] },
    ],
    [
      "a claim with a pattern of its own",
      ["event"],
      [{ id: "S11", explains: /^event/ }],
      { explained: [{ difference: difference("event"), id: "S11" }], unexplained: [], idle: [] },
    ],
  ])("reports %s", (_, places, claims, classification) => {
    expect(classify(places.map(difference), claims, explanations)).toEqual(classification);
  });
});
