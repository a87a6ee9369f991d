import { describe, expect, test } from "vitest";
import { beginningOf, flatText, hinted, withoutUserinfo } from "./text.ts";

test.each(["", "plain", "Zürich → 東京 🚀"])("flatText() keeps %j as it is", (text) => {
  expect(flatText(text)).toBe(text);
});

test.each([
  ["four", "four"],
  ["fiver", "five …"],
])("beginningOf() makes %j %j", (text, beginning) => {
  expect(beginningOf(text, 4)).toBe(beginning);
});

describe("hinted", () => {
  test.each([
    { it: "with something to do", remedy: "pay", want: "quota (in 5 min). To fix: pay" },
    { it: "with nothing to do", remedy: undefined, want: "quota (in 5 min)" },
  ])("hinted() joins cause, retry and remedy, $it", ({ remedy, want }) => {
    expect(hinted("quota", "in 5 min", remedy, 100)).toBe(want);
  });

  test("hinted() truncates the cause, never the remedy", () => {
    const text = hinted("x".repeat(200), "in 5 min", "pay", 100);
    expect([text.length, text.endsWith("x… (in 5 min). To fix: pay")]).toEqual([100, true]);
  });
});

describe("userinfo", () => {
  test.each([
    ["http://collector:4317", "http://collector:4317"],
    ["unix:///run/provider.sock", "unix:///run/provider.sock"],
    ["", ""],
    ["http://user:hunter2@collector:4317", "http://***@collector:4317"],
    ["tcp://user:hun@ter/2@host:1", "tcp://***@host:1"],
    ["user:hunter2@collector:4317", "***@collector:4317"],
    ["//user:hunter2@collector", "***@collector"],
    ["HTTPS://hunter2\n@host", "HTTPS://***@host"],
  ])("withoutUserinfo() shows %j as %j", (address, shown) => {
    expect(withoutUserinfo(address)).toBe(shown);
  });
});
