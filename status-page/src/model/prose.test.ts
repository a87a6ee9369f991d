import { expect, test } from "vitest";
import { proseParts } from "./prose.ts";

test.each([
  { text: "", parts: [] },
  { text: "Nothing to type.", parts: ["Nothing to type."] },
  { text: "Run `kubectl get` now.", parts: ["Run ", "[kubectl get]", " now."] },
  { text: "`a` then `b`", parts: ["[a]", " then ", "[b]"] },
  { text: "One ` alone", parts: ["One ` alone"] },
  { text: "`a` and ` alone", parts: ["[a]", " and ` alone"] },
])("proseParts() finds the code in $text", ({ text, parts }) => {
  expect(proseParts(text).map((part) => (part.isCode ? `[${part.text}]` : part.text))).toEqual(parts);
});
