import { describe, expect, test } from "vitest";
import { UsageError } from "../errors.ts";
import { helpText, parseArguments } from "./arguments.ts";

const parse = (...argv: readonly string[]) => parseArguments(argv, () => 0.5);

describe("parseArguments()", () => {
  test("takes what stands behind -- for the provider's command, options and all", () => {
    expect(parse("run", "--profile", "core", "--", "./provider", "--level", "debug", "--")).toMatchObject({
      command: "run",
      profiles: ["core"],
      level: "R",
      provider: ["./provider", "--level", "debug", "--"],
    });
  });

  test("has a default for everything, a random seed among them", () => {
    expect(parse("run")).toMatchObject({
      format: undefined,
      parallel: 4,
      slowFactor: 1,
      long: false,
      startTimeoutMs: 10_000,
      cleanUpTimeoutMs: 300_000,
      seed: 500_000_000,
      run: [],
      knownFlaky: [],
      trace: false,
    });
  });

  test.each([
    ["90m", 5_400_000],
    ["24h", 86_400_000],
    ["7d", 604_800_000],
  ])("reads the age %s", (text, wanted) => {
    expect(parse("cleanup", "--all-older-than", text).allOlderThanMs).toBe(wanted);
  });

  test.each<[readonly string[], RegExp]>([
    [["run", "--nonsense"], /Unknown option '--nonsense'.*--help/],
    [["run", "--profile", "corp"], /--profile is corp; it is one of core, /],
    [["run", "--level", "Z"], /--level is Z; it is one of S, R, M, D, X/],
    [["run", "--format", "pdf"], /--format is pdf; it is one of pretty, tap, /],
    [["run", "--seed", "x"], /--seed is x; it is a number from 0 to /],
    [["run", "--parallel", "0"], /--parallel is 0; it is a number from 1 to 64/],
    [["run", "--seed", ""], /--seed is ; it is a number/],
    [["cleanup", "--all-older-than", "a day"], /--all-older-than is a day; it is a number of minutes, hours or days/],
  ])("refuses %j", (argv, wanted) => {
    expect(() => parse(...argv)).toThrow(wanted);
    expect(() => parse(...argv)).toThrow(UsageError);
  });
});

describe("helpText()", () => {
  test("names each option", () => {
    const text = helpText();
    const names = [
      "plan",
      "yes",
      "why",
      "include-ids",
      "run-id",
      "endpoint",
      "profile",
      "known-failing",
      "slow-factor",
      "trace",
      "config",
    ];
    expect(names.filter((name) => !text.includes(`--${name}`))).toEqual([]);
  });

  test("leaves room between a name and what it means", () => {
    const lines = helpText()
      .split("\n")
      .filter((line) => line.startsWith("  "));
    expect(lines.filter((line) => !/^ {2}\S+(?: <[^>]+>)? {2,}\S/.test(line))).toEqual([]);
  });
});
