import type { Page } from "./markdown.ts";

/** A fenced block that a page promises to work: its first line has the word `test`. */
export interface Snippet {
  /** `README.md:12`. */
  readonly where: string;
  readonly language: "ts" | "sh";
  readonly text: string;
  /** What it has to print, when a block of language `text output` follows. */
  readonly output: string | undefined;
  readonly timeoutMs: number;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * The tested blocks of a page. Written as
 *
 *     ```ts test                a module that has to type-check and to end with exit code 0
 *     ```sh test timeout=60     shell commands, from the top of the checkout, each of which has to succeed; seconds
 *     ```text output            right after one of them: exactly what it prints
 */
export function snippetsOf(path: string, { fences }: Page): readonly Snippet[] {
  return fences.flatMap(({ language, words, text, line }, index) => {
    if (!words.includes("test")) return [];
    const where = `${path}:${line}`;
    if (language !== "ts" && language !== "sh") {
      throw new Error(`${where}: a block of language "${language}" cannot be tested, only ts and sh`);
    }
    const next = fences[index + 1];
    const output = next?.language === "text" && next.words.includes("output") ? next.text : undefined;
    return [{ where, language, text, output, timeoutMs: timeoutOf(words) }];
  });
}

function timeoutOf(words: readonly string[]): number {
  const seconds = words.map((word) => /^timeout=(\d+)$/.exec(word)?.[1]).find((found) => found !== undefined);
  return seconds === undefined ? DEFAULT_TIMEOUT_MS : Number(seconds) * 1_000;
}
