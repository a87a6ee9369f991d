import type { Occurrence, Said } from "./occurrence.ts";
import { rows } from "./rows.ts";
import { nearest } from "./suggestion.ts";
import type { Problem } from "./validate.ts";

/** What one argument is, and how many arguments it takes up. */
interface Token {
  readonly taken: 1 | 2;
  readonly occurrence?: Occurrence;
  readonly problem?: Problem;
}

/** The settings among `args` (without program name). */
export function readCommandLine(args: readonly string[]): Said {
  const tokens: Token[] = [];
  for (let index = 0; index < args.length; index += tokens.at(-1)?.taken ?? 1) {
    tokens.push(readToken(args[index] ?? "", args[index + 1]));
  }
  return {
    occurrences: tokens.flatMap(({ occurrence }) => (occurrence === undefined ? [] : [occurrence])),
    problems: tokens.flatMap(({ problem }) => (problem === undefined ? [] : [problem])),
  };
}

/** `--a=b`, `--a b`, `--bool`, `-v=2`, `-v 2`; `_` may stand for `-` in names. */
function readToken(arg: string, next: string | undefined): Token {
  const match = /^(?:--|-(?=v\b))([A-Za-z][-\w]*)(?:=(.*))?$/s.exec(arg);
  if (!match)
    return { taken: 1, problem: { where: arg, what: "is not a flag; this program takes no other arguments" } };
  const name = match[1]?.replaceAll("_", "-") ?? "";
  const where = `--${name}`;
  const inline = match[2];
  const row = rows.get(name);
  if (row === undefined) {
    // Its value, if one follows, is not an argument of its own.
    const taken = inline === undefined && next?.startsWith("-") === false ? 2 : 1;
    return { taken, problem: { where, what: unknownFlag(name) } };
  }
  const { key, flag } = row;
  if (inline !== undefined) return { taken: 1, occurrence: { key, where, text: inline } };
  if (flag.valueName === undefined) return { taken: 1, occurrence: { key, where, text: "true" } };
  if (next === undefined) return { taken: 1, problem: { where, what: `needs a value: ${flag.valueName}` } };
  return { taken: 2, occurrence: { key, where, text: next } };
}

function unknownFlag(name: string): string {
  const near = nearest(name, rows.keys());
  return `is not a flag of this program${near === undefined ? "; --help lists them" : `; did you mean --${near}?`}`;
}
