import { type FlagTable, isCommandFlag } from "./table.ts";
import { type Flag, NOTHING_SAID, type Said } from "./flag.ts";
import { nearest } from "./suggestion.ts";
import { unusedFlags } from "./upstream-flags.ts";

/** What comes after it is no flag, whatever it looks like. */
const NO_MORE_FLAGS = "--";

/** What one argument says, and how many arguments it takes up. */
interface Token extends Said {
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
  return {
    occurrences: tokens.flatMap(({ occurrences }) => occurrences),
    problems: tokens.flatMap(({ problems }) => problems),
    warnings: tokens.flatMap(({ warnings }) => warnings),
    lost: [],
  };
}

/** `--a=b`, `--a b`, `--bool`, `-v=2`, `-v 2`, `-v2`; `_` may stand for `-` in names. */
function readToken(table: Table, arg: string, next: string | undefined): Token {
  const match = /^(?:--([A-Za-z][-\w]*)(?:=(.*))?|-(v)(?:=(.*)|(\d+))?)$/s.exec(arg);
  if (!match) return readOther(table, arg);
  const name = (match[1] ?? match[3] ?? "").replaceAll("_", "-");
  const inline = match[2] ?? match[4] ?? match[5];
  const flag = (table.byName.get(name) ?? unusedFlags.get(name))?.flag;
  if (flag === undefined) {
    // Its value, if one follows, is not an argument of its own.
    return token(
      inline === undefined && next?.startsWith("-") === false ? 2 : 1,
      wrong(`--${name}`, unknown(table, name)),
    );
  }
  if (inline !== undefined) return token(1, said(table, name, inline));
  return flag.valueName === undefined ? readBare(table, name, next) : readFollowed(table, name, flag.valueName, next);
}

/** A boolean without a value. */
function readBare(table: Table, name: string, next: string | undefined): Token {
  // A common mistake: without this, it would be told that "false" is no flag.
  if (next === "true" || next === "false") {
    return token(2, wrong(`--${name}`, `takes its value after "=": write --${name}=${next}`));
  }
  return token(1, said(table, name, "true"));
}

function readFollowed(table: Table, name: string, valueName: string, next: string | undefined): Token {
  return next === undefined
    ? token(1, wrong(`--${name}`, `needs a value: ${valueName}`))
    : token(2, said(table, name, next));
}

/** What is no flag. An empty argument, as templates leave it behind, says nothing. */
function readOther(table: Table, arg: string): Token {
  if (arg === "") return token(1, NOTHING_SAID);
  const name = /^-?([A-Za-z][-\w]*)/.exec(arg)?.[1]?.replaceAll("_", "-") ?? "";
  const isKnown = table.byName.has(name) || unusedFlags.has(name) || isCommandFlag(name);
  const what = isKnown ? `lacks its dashes; write --${name}` : "is not a flag; this program takes flags only";
  return token(1, wrong(arg, what));
}

/** A value that a flag was given. */
function said(table: Table, name: string, text: string): Said {
  const where = `--${name}`;
  const row = table.byName.get(name);
  if (row !== undefined) return { ...NOTHING_SAID, occurrences: [{ key: row.key, where, text }] };
  const unused = unusedFlags.get(name);
  if (unused === undefined) return NOTHING_SAID;
  return { ...NOTHING_SAID, ...saidInVain(unused.flag, where, text, unused.instead) };
}

function saidInVain(flag: Flag<unknown>, where: string, text: string, instead: string): Partial<Said> {
  const parsed = flag.parse(text, undefined);
  return parsed.kind === "problem"
    ? { problems: [{ where, what: parsed.problem }] }
    : { warnings: [{ where, what: instead }] };
}

function token(taken: Token["taken"], what: Said): Token {
  return { ...what, taken };
}

function wrong(where: string, what: string): Said {
  return { ...NOTHING_SAID, problems: [{ where, what }] };
}

function unknown(table: Table, name: string): string {
  const near = nearest(name, [...table.byName.keys(), ...unusedFlags.keys()]);
  return `is not a flag of this program${near === undefined ? "; --help lists them" : `; did you mean --${near}?`}`;
}
