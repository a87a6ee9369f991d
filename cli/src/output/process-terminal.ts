import { createInterface } from "node:readline/promises";
import { isUnicodeLocale, toAscii } from "./ascii.ts";
import { createPaint } from "./paint.ts";
import type { Terminal } from "./terminal.ts";

/** The terminal, or whatever else the process writes to. */
export function processTerminal(
  { stdin, stdout, stderr, env }: NodeJS.Process,
  hasColours: (isTerminal: boolean) => boolean,
): Terminal {
  const isTerminal = stdout.isTTY;
  const isUnicode = isUnicodeLocale(env);
  const shown = (text: string): string => (isUnicode ? text : toAscii(text));
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(shown(text)),
    paint: createPaint(hasColours(isTerminal)),
    columns: isTerminal ? stdout.columns : undefined,
    canRedraw: isTerminal && env["TERM"] !== "dumb",
    canAsk: stdin.isTTY && stderr.isTTY,
    ask: async (question) => {
      const lines = createInterface({ input: stdin, output: stderr });
      try {
        return await Promise.race([
          lines.question(question),
          new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined))),
        ]);
      } finally {
        lines.close();
      }
    },
    isUnicode,
  };
}
