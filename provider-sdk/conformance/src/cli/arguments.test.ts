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
    [["run", "--profile", "corp"], /--profile must be one of core, .*, not corp/],
    [["run", "--level", "Z"], /--level must be one of S, R, M, D, X, not Z/],
    [["run", "--format", "pdf"], /--format must be one of pretty, tap, .*, not pdf/],
    [["run", "--seed", "x"], /--seed must be a number from 0 to .*, not x/],
    [["run", "--parallel", "0"], /--parallel must be a number from 1 to 64, not 0/],
    [["run", "--seed", ""], /--seed must be a number/],
    [
      ["cleanup", "--all-older-than", "a day"],
      /--all-older-than must be a number of minutes, hours or days such as .*, not a day/,
    ],
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
