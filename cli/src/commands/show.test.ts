import { expect, test } from "vitest";
import { parse } from "yaml";
import { jsonText, yamlText } from "./show.ts";

const hostile = {
  "na\u009Bme": "\u009B2J \u007F \u001B[2J \u202Egnp.exe",
  plain: "läuft",
  state: "off",
  at: "2026-11-23",
};

test("jsonText() says the same, and has nothing that moves a terminal or turns it", () => {
  const text = jsonText(hostile, 2);
  expect(JSON.parse(text)).toEqual(hostile);
  expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202A-\u202E]/u);
  expect(text).toContain("läuft");
});

test("yamlText() says the same, and has no control character", () => {
  const text = yamlText(hostile);
  expect(parse(text)).toEqual(hostile);
  expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
});

test("yamlText() puts into quotes what is no text to readers of YAML 1.1", () => {
  expect(yamlText({ state: "off", yes: "no", port: "1:20" })).toBe('state: "off"\n"yes": "no"\nport: "1:20"\n');
});

test("yamlText() repeats what comes twice", () => {
  const value = { a: 1 };
  expect(yamlText({ wanted: value, got: value })).toBe("wanted:\n  a: 1\ngot:\n  a: 1\n");
});
