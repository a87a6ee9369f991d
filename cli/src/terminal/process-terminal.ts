import { createInterface } from "node:readline/promises";
import { isUnicodeLocale, toAscii } from "./ascii.ts";
import { createPaint } from "./paint.ts";
import { printableLines } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

/** The terminal, or whatever else the process writes to. */
export function processTerminal(process: NodeJS.Process, hasColours: (isTerminal: boolean) => boolean): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const isTerminal = stdout.isTTY;
  const isUnicode = isUnicodeLocale(env);
  const shown = (text: string): string => (isUnicode ? text : toAscii(text));
  return {
    out: (text) => void stdout.write(text),
    // Servers have written some of it.
    err: (text) => void stderr.write(shown(printableLines(text))),
    paint: createPaint(hasColours(isTerminal)),
    // At each look: it may be made wider or narrower. A terminal that knows no size says 0.
    get columns() {
      return isTerminal && stdout.columns > 0 ? stdout.columns : undefined;
    },
    canRedraw: isTerminal && env["TERM"] !== "dumb",
    canAsk: stdin.isTTY && stderr.isTTY,
    ask: async (question, signal) => {
      const lines = createInterface({ input: stdin, output: stderr });
      // It takes Ctrl-C for a key: it is to be what it is elsewhere.
      lines.on("SIGINT", () => process.emit("SIGINT"));
      try {
        return await Promise.race([
          lines.question(question, { signal }).catch(() => undefined),
          new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined))),
        ]);
      } finally {
        lines.close();
      }
    },
    isUnicode,
  };
}
