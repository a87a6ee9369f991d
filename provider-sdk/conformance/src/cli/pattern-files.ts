import { readFile } from "node:fs/promises";
import { UsageError, errorText } from "../errors.ts";
import type { Arguments } from "./arguments.ts";

type PatternLists = Pick<Arguments, "run" | "skip" | "knownFailing" | "knownFlaky">;

/** The command line with what stands in the files that its patterns name: `@known.txt`. */
export const withPatternFiles = async <Args extends PatternLists>(args: Args): Promise<Args> => {
  const { run, skip, knownFailing, knownFlaky } = args;
  return {
    ...args,
    run: await expanded(run),
    skip: await expanded(skip),
    knownFailing: await expanded(knownFailing),
    knownFlaky: await expanded(knownFlaky),
  };
};

/** Patterns of a file's text: one a line, what stands behind "#" is for people. */
const patternLines = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter((line) => line !== "");

const expanded = async (texts: readonly string[]): Promise<readonly string[]> =>
  (await Promise.all(texts.map(async (text) => (text.startsWith("@") ? fromFile(text.slice(1)) : [text])))).flat();

const fromFile = async (path: string): Promise<readonly string[]> => {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new UsageError(`the patterns in ${path} cannot be read: ${errorText(error)}`);
  });
  const lines = patternLines(text);
  if (lines.length === 0) throw new UsageError(`there are no patterns in ${path}; write one a line: err.frame.garbage`);
  return lines;
};
