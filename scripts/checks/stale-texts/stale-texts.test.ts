import { beforeAll, describe, expect, test } from "vitest";
import { treeTexts } from "../../lib/tree.ts";
import { FOREIGN_TEXTS } from "./foreign-texts.ts";
import { type ExpectedText, expectedTexts, indexOf, isStale } from "./find.ts";

const PROGRAM = new Map([
  ["a.ts", 'throw new Error(`cannot reach the controller at ${address}: ${reason}`); log.info("Started")'],
]);

const stale = (source: string): readonly string[] =>
  expectedTexts("x.test.ts", source)
    .filter((text) => isStale(text, indexOf(PROGRAM)))
    .map(({ text }) => text);

describe("isStale()", () => {
  test.each([
    'expect(err).toContain("cannot reach the controller at")',
    "expect(err).toMatch(/cannot reach the controller at .*ECONNREFUSED/)",
    "expect(err).toContain(`reach the controller at ${host}`)",
    'expect(lines).toContainEqual({ msg: "Started" })',
    'test("a title is not compared with any output", () => {})',
  ])("ignores %s", (source) => {
    expect(stale(source)).toEqual([]);
  });

  test.each([
    ['expect(err).toContain("the controller cannot be reached")', "the controller cannot be reached"],
    ["expect(err).toMatch(/no controller is listening there/)", "no controller is listening there"],
    ['wait({ message: "Could not find it there" })', "Could not find it there"],
  ])("finds %s", (source, text) => {
    expect(stale(source)).toEqual([text]);
  });
});

describe("texts that test suites expect", () => {
  const foreign = Object.keys(FOREIGN_TEXTS);
  let found: readonly ExpectedText[] = [];
  let isMissing: (text: ExpectedText) => boolean = () => true;

  beforeAll(async () => {
    const suites = await treeTexts("test/suites/**/*.test.ts");
    found = [...suites].flatMap(([path, source]) => expectedTexts(path, source));
    const sources = await treeTexts("*.ts", "*.tsx", "*.go", "*.py", "*.mjs", "*.tpl", "*.txt", "*.yaml", "*.proto");
    const programs = [...sources].filter(
      ([path]) => !/foreign-texts\.ts$|\.test\.ts$|_test\.go$|\/tests?\/.*\.py$|^docs\//.test(path),
    );
    const index = indexOf(new Map(programs));
    isMissing = (text) => isStale(text, index);
  }, 60_000);

  test("are in a program, or are those of another program", () => {
    const missing = found.filter(isMissing).filter(({ text }) => !foreign.some((part) => text.includes(part)));
    expect(missing.map(({ path, line, text }) => `${path}:${line} ${text}`)).toEqual([]);
  });

  test("need each entry of the list of exceptions, which has at most 20", () => {
    const missing = found.filter(isMissing).map(({ text }) => text);
    expect(foreign.filter((part) => !missing.some((text) => text.includes(part)))).toEqual([]);
    expect(foreign.length).toBeLessThanOrEqual(20);
  });
});
