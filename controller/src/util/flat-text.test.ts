import { expect, test } from "vitest";
import { flatText } from "./flat-text.ts";

test.each(["", "plain", "Zürich → 東京 🚀"])("flatText() keeps %j as it is", (text) => {
  expect(flatText(text)).toBe(text);
});
