import { expect, test } from "vitest";
import { paintFor } from "./paint.ts";

const RED = "\u001B[31mx\u001B[39m";

test.each([
  ["paints for a terminal", {}, true, RED],
  ["leaves text for a pipe as it is", {}, false, "x"],
  ["leaves text as it is with NO_COLOR", { NO_COLOR: "1" }, true, "x"],
  ["paints with an empty NO_COLOR, which does not count", { NO_COLOR: "" }, true, RED],
  ["leaves text for a dumb terminal as it is", { TERM: "dumb" }, true, "x"],
])("paintFor() %s", (_sentence, env, isTty, painted) => {
  expect(paintFor(env, isTty).red("x")).toBe(painted);
});
