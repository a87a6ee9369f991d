import { createInterface } from "node:readline/promises";

/** Where a command writes, and what can be shown there. */
export interface Terminal {
  /** To standard output, as it is. */
  readonly out: (text: string) => void;
  /** To standard error: what is not the answer. It is never painted; what would move a terminal is left out. */
  readonly err: (text: string) => void;
  readonly paint: Paint;
  /** How wide a line may be; undefined: as long as it is, for programs that read it. */
  readonly columns: number | undefined;
  /** Standard output is a terminal that can be redrawn. */
  readonly canRedraw: boolean;
  /** The terminal is interactive, so it can prompt. */
  readonly canAsk: boolean;
  /** One line of an answer; undefined: the input has ended, or the process is to end. */
  readonly ask: (question: string, signal: AbortSignal) => Promise<string | undefined>;
  /** Characters beyond ASCII can be shown. */
  readonly isUnicode: boolean;
}

/** The terminal, or whatever else the process writes to. */
export function processTerminal(process: NodeJS.Process, hasColors: (isTerminal: boolean) => boolean): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const isTerminal = stdout.isTTY;
  const isUnicode = isUnicodeLocale(env);
  const shown = (text: string): string => (isUnicode ? text : toAscii(text));
  return {
    out: (text) => void stdout.write(text),
    // Servers have written some of it.
    err: (text) => void stderr.write(shown(printableLines(text))),
    paint: createPaint(hasColors(isTerminal)),
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

/** Paints text, or leaves it plain where colors are not wanted. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly blue: (text: string) => string;
}

/** Colors on a terminal only, and not when NO_COLOR is set to anything (no-color.org) or the terminal is "dumb". */
export function wantsColors(
  when: string,
  environment: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  if (when !== "auto") return when === "always";
  return isTerminal && (environment["NO_COLOR"] ?? "") === "" && environment["TERM"] !== "dumb";
}

/** A paint for a terminal, or one that changes nothing. */
export function createPaint(hasColors: boolean): Paint {
  const code = (open: number, close: number) => (text: string) =>
    hasColors && text !== "" ? `\u001B[${open}m${text}\u001B[${close}m` : text;
  return {
    bold: code(1, 22),
    dim: code(2, 22),
    red: code(31, 39),
    green: code(32, 39),
    yellow: code(33, 39),
    blue: code(34, 39),
  };
}

const PLAIN: Readonly<Record<string, string>> = {
  "…": "...",
  "–": "-",
  "—": "-",
  "‘": "'",
  "’": "'",
  "“": '"',
  "”": '"',
  "→": "->",
  "●": "*",
  "○": "o",
  "·": "-",
  "×": "x",
  µ: "u",
};

/** The same in ASCII: for terminals whose locale has nothing else. */
export function toAscii(text: string): string {
  // oxlint-disable-next-line no-control-regex -- ASCII is what is meant.
  return text.replaceAll(/[^\u0000-\u007F]/gu, (character) => PLAIN[character] ?? "?");
}

/** Whether the locale can show more than ASCII: the first of these variables that says something decides (POSIX, section 8.2). */
export function isUnicodeLocale(environment: Readonly<Record<string, string | undefined>>): boolean {
  const locale = [environment["LC_ALL"], environment["LC_CTYPE"], environment["LANG"]].find(
    (value) => value !== undefined && value !== "",
  );
  return locale !== undefined && /utf-?8/i.test(locale);
}

/** Clouds and users of the cluster write some of what is shown: a control character would be the terminal's, a turned direction hides words. */
const UNPRINTABLE = /[\p{Cc}\u202A-\u202E\u2066-\u2069]+/gu;

/** A text of one line with nothing in it that moves a terminal. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, " ");
}

/** Likewise of several lines. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
