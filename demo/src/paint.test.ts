import { expect, test } from "vitest";
import { paintFor } from "./paint.ts";

const RED = "\u001B[31mx\u001B[39m";

test.each([
  ["styles text for a terminal", {}, true, RED],
  ["returns text for a pipe unchanged", {}, false, "x"],
  ["returns text unchanged with NO_COLOR", { NO_COLOR: "1" }, true, "x"],
  ["styles text with an empty NO_COLOR", { NO_COLOR: "" }, true, RED],
  ["returns text for a dumb terminal unchanged", { TERM: "dumb" }, true, "x"],
])("paintFor() %s", (_sentence, env, isTty, painted) => {
  expect(paintFor(env, isTty).red("x")).toBe(painted);
});
