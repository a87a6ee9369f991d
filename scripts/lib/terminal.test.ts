import { describe, expect, test } from "vitest";
import { createPaint, formatDuration, wantsColor } from "./terminal.ts";

describe("wantsColor()", () => {
  test.each([
    ["a terminal", {}, true, true],
    ["a pipe", {}, false, false],
    ["NO_COLOR", { NO_COLOR: "1" }, true, false],
    ["an empty NO_COLOR, which does not count", { NO_COLOR: "" }, true, true],
    ["a dumb terminal", { TERM: "dumb" }, true, false],
  ])("on %s", (_sentence, env, isTty, answer) => {
    expect(wantsColor(env, isTty)).toBe(answer);
  });
});

describe("createPaint()", () => {
  test("leaves text as it is without colors", () => {
    expect(createPaint(false).red("x")).toBe("x");
    expect(createPaint(true).red("x")).toBe("\u001B[31mx\u001B[39m");
  });
});

describe("formatDuration()", () => {
  test.each([
    [349, "0.3 s"],
    [59_900, "59.9 s"],
    [59_960, "1 min 00 s"],
    [245_000, "4 min 05 s"],
  ])("of %d ms is %s", (durationMs, text) => {
    expect(formatDuration(durationMs)).toBe(text);
  });
});
