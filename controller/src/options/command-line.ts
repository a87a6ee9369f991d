import { type FlagTable, isCommandFlag } from "./table.ts";
import { allSaid, NOTHING_SAID, type Said, saidWrong } from "./flag.ts";
import { nearest } from "./suggestion.ts";
import { unusedFlags } from "./upstream-flags.ts";

/** Arguments after it are not flags. */
const NO_MORE_FLAGS = "--";

interface Token extends Said {
  /** Number of arguments that it consumes. */
  readonly taken: 1 | 2;
}

type Table = Pick<FlagTable<unknown>, "byName">;

/** The settings among `args` (without program name). */
export function readCommandLine(table: Table, args: readonly string[]): Said {
  const tokens: Token[] = [];
  const end = args.indexOf(NO_MORE_FLAGS);
  const flagArgs = end < 0 ? args : args.slice(0, end);
  for (let index = 0; index < flagArgs.length; index += tokens.at(-1)?.taken ?? 1) {
    tokens.push(readToken(table, args[index] ?? "", args[index + 1]));
  }
  tokens.push(...args.slice(flagArgs.length + 1).map((arg) => readOther(table, arg)));
  return allSaid(tokens);
}

/** `--a=b`, `--a b`, `--bool`, `-v=2`, `-v 2`, `-v2`; `_` in names is the same as `-`. */
function readToken(table: Table, arg: string, next: string | undefined): Token {
  const match = /^(?:--([A-Za-z][-\w]*)(?:=(.*))?|-(v)(?:=(.*)|(\d+))?)$/s.exec(arg);
  if (!match) return readOther(table, arg);
  const name = (match[1] ?? match[3] ?? "").replaceAll("_", "-");
  const inline = match[2] ?? match[4] ?? match[5];
  const flag = (table.byName.get(name) ?? unusedFlags.get(name))?.flag;
  if (flag === undefined) {
    const hasValue = inline === undefined && next?.startsWith("-") === false;
    return token(hasValue ? 2 : 1, saidWrong(`--${name}`, unknown(table, name)));
  }
  if (inline !== undefined) return token(1, said(table, name, inline));
  if (flag.valueName === undefined) return readBare(table, name, next);
  return next === undefined
    ? token(1, saidWrong(`--${name}`, `needs a value: ${flag.valueName}`))
    : token(2, said(table, name, next));
}

/** A boolean without a value. */
function readBare(table: Table, name: string, next: string | undefined): Token {
  // A common mistake, which would otherwise be reported as "false" not being a flag.
  if (next === "true" || next === "false") {
    return token(2, saidWrong(`--${name}`, `takes its value after "=": write --${name}=${next}`));
  }
  return token(1, said(table, name, "true"));
}

/** An argument that is not a flag. Templates may leave empty ones behind, which are ignored. */
function readOther(table: Table, arg: string): Token {
  if (arg === "") return token(1, NOTHING_SAID);
  const name = /^-?([A-Za-z][-\w]*)/.exec(arg)?.[1]?.replaceAll("_", "-") ?? "";
  const isKnown = table.byName.has(name) || unusedFlags.has(name) || isCommandFlag(name);
  const what = isKnown ? `lacks its dashes; write --${name}` : "is not a flag; this program takes flags only";
  return token(1, saidWrong(arg, what));
}

function said(table: Table, name: string, text: string): Said {
  const where = `--${name}`;
  const row = table.byName.get(name);
  if (row !== undefined) return { ...NOTHING_SAID, occurrences: [{ key: row.key, where, text }] };
  const unused = unusedFlags.get(name);
  if (unused === undefined) return NOTHING_SAID;
  const parsed = unused.flag.parse(text, undefined);
  if (parsed.kind === "problem") return saidWrong(where, parsed.problem);
  return { ...NOTHING_SAID, warnings: [{ where, what: unused.instead }] };
}

function token(taken: Token["taken"], what: Said): Token {
  return { ...what, taken };
}

function unknown(table: Table, name: string): string {
  const near = nearest(name, [...table.byName.keys(), ...unusedFlags.keys()]);
  return `is not a flag of this program${near === undefined ? "; --help lists them" : `; did you mean --${near}?`}`;
}
