import { expect, test } from "vitest";
import { beginningOf, flatText } from "./text.ts";

test.each(["", "plain", "Zürich → 東京 🚀"])("flatText() keeps %j as it is", (text) => {
  expect(flatText(text)).toBe(text);
});

test.each([
  ["four", "four"],
  ["fiver", "five …"],
])("beginningOf() makes %j %j", (text, beginning) => {
  expect(beginningOf(text, 4)).toBe(beginning);
});
