import { describe, expect, test } from "vitest";
import { createPaint, isUnicodeLocale, toAscii, wantsColors } from "./terminal.ts";
import { hanging, table, wrap } from "./layout.ts";
import { agoText, clockText, durationText } from "./time-text.ts";

test.each([
  [0, "0 ms"],
  [949.6, "950 ms"],
  [1500, "1.5 s"],
  [9940, "9.9 s"],
  [12_000, "12 s"],
  [59_400, "59 s"],
  [60_000, "1m"],
  [200_000, "3m20s"],
  [7_500_000, "2h5m"],
  [86_400_000 * 3 + 3_600_000 * 4, "3d4h"],
])("durationText() of %d ms is %s", (durationMs, text) => {
  expect(durationText(durationMs)).toBe(text);
});

test.each([
  ["2026-11-23T15:04:05.000Z", "now"],
  ["2026-11-23T15:03:00.000Z", "1m5s ago"],
  ["2026-11-23T15:04:15.000Z", "in 10 s"],
  ["yesterday", "yesterday"],
])("agoText() of %s is %s", (time, text) => {
  expect(agoText(time, "2026-11-23T15:04:05.000Z")).toBe(text);
});

test.each([
  ["2026-11-23T15:04:05.000Z", "15:04:05Z"],
  ["soon", "soon"],
])("clockText() of %s is %s", (time, text) => {
  expect(clockText(time)).toBe(text);
});

describe("wrap()", () => {
  test("breaks between words, and never within one", () => {
    expect(wrap("a bb ccc https://a.very.long.address/of/a/page d", 21)).toEqual([
      "a bb ccc",
      "https://a.very.long.address/of/a/page",
      "d",
    ]);
  });

  test("leaves a text whole that a program reads", () => {
    expect(wrap("a ".repeat(200), undefined)).toEqual(["a ".repeat(200)]);
  });

  test("hanging() puts further lines under the first", () => {
    expect(hanging("Do: ", "one two three four five six seven", 26)).toBe("Do: one two three four\n    five six seven");
  });
});

describe("table()", () => {
  const rows = [
    [{ text: "a" }, { text: "10" }, { text: "the first of two rows, with a long text" }],
    [{ text: "bb" }, { text: "9" }, { text: "" }],
  ];

  test.each([
    ["as wide as it needs", undefined, ["a   10  the first of two rows, with a long text", "bb   9"]],
    ["wrapped", 45, ["a   10  the first of two rows, with a long", "        text", "bb   9"]],
    ["on lines of its own", 30, ["a   10", "    the first of two rows,", "    with a long text", "bb   9"]],
  ])("shows the last column %s", (_what, columns, lines) => {
    expect(table(rows, { columns, right: [1] })).toEqual(lines);
  });

  test("of nothing is nothing", () => {
    expect(table([], { columns: 80 })).toEqual([]);
  });
});

describe("colors", () => {
  test.each([
    ["auto", {}, true, true],
    ["auto", {}, false, false],
    ["auto", { NO_COLOR: "1" }, true, false],
    ["auto", { NO_COLOR: "" }, true, true],
    ["auto", { TERM: "dumb" }, true, false],
    ["always", { NO_COLOR: "1" }, false, true],
    ["never", {}, true, false],
  ])("%s, environment %j, terminal %s: %s", (when, environment, isTerminal, wanted) => {
    expect(wantsColors(when, environment, isTerminal)).toBe(wanted);
  });

  test("are codes around the text, and around nothing none", () => {
    expect([createPaint(true).red("x"), createPaint(true).red(""), createPaint(false).red("x")]).toEqual([
      "\u001B[31mx\u001B[39m",
      "",
      "x",
    ]);
  });
});

describe("ASCII", () => {
  test("stands for what it has no character for", () => {
    expect(toAscii("läuft … “so” → 100 µs 🚀")).toBe('l?uft ... "so" -> 100 us ?');
  });

  test.each([
    [{ LANG: "en_GB.UTF-8" }, true],
    [{ LANG: "C.utf8" }, true],
    [{ LANG: "en_GB.UTF-8", LC_ALL: "C" }, false],
    [{ LANG: "C", LC_CTYPE: "de_DE.UTF-8" }, true],
    [{ LC_ALL: "", LANG: "POSIX" }, false],
    [{}, false],
  ])("is all that %j can show: not %s", (environment, isUnicode) => {
    expect(isUnicodeLocale(environment)).toBe(isUnicode);
  });
});
