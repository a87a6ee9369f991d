import { describe, expect, test } from "vitest";
import { listed, quoted } from "./objection.ts";

describe("quoted()", () => {
  test.each([
    { text: "node-a", said: `"node-a"` },
    { text: `"\n`, said: String.raw`"\"\n"` },
    { text: "x".repeat(80), said: `"${"x".repeat(80)}"` },
    { text: "x".repeat(81), said: `"${"x".repeat(80)}…"` },
  ])("says $said", ({ text, said }) => {
    expect(quoted(text)).toBe(said);
  });
});

describe("listed()", () => {
  test.each([
    { texts: [], said: "none" },
    { texts: ["a"], said: `"a"` },
    { texts: ["a", "b", "c", "d", "e"], said: `"a", "b", "c", "d", "e"` },
    { texts: ["a", "b", "c", "d", "e", "f", "g"], said: `"a", "b", "c", "d", "e" and 2 more` },
  ])("says $said", ({ texts, said }) => {
    expect(listed(texts)).toBe(said);
  });
});
