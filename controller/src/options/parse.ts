import type { Flag } from "./flag.ts";
import { flagName, flags, type Options } from "./options.ts";
import { type Problem, validate } from "./validate.ts";

/** What the command line asks for. */
export type Command =
  | { readonly kind: "run"; readonly options: Options }
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "invalid"; readonly problems: readonly Problem[] };

interface Occurrence {
  readonly flag: string;
  readonly text: string;
}

type Values = Partial<Record<string, unknown>>;

const rows: ReadonlyMap<string, { readonly key: string; readonly flag: Flag<unknown> }> = new Map(
  Object.entries(flags).map(([key, flag]) => [flagName(key), { key, flag }]),
);

/** Reads `args` (without program name). Every problem is found and reported together. */
export function parseCommand(args: readonly string[], knownControllers: ReadonlySet<string>): Command {
  if (args.some((arg) => arg === "--help" || arg === "-h")) return { kind: "help" };
  if (args.includes("--version")) return { kind: "version" };
  const { occurrences, problems } = scan(args);
  const read = readValues(occurrences);
  const options = withDefaults(read.values);
  const all = [...problems, ...read.problems];
  // A flag that could not be read keeps its default; rules across flags would then speak of values nobody gave.
  const across = validate(options, knownControllers).filter(({ where }) => !all.some((one) => one.where === where));
  return all.length + across.length > 0 ? { kind: "invalid", problems: [...all, ...across] } : { kind: "run", options };
}

/** What one argument is, and how many arguments it takes up. */
interface Token {
  readonly taken: 1 | 2;
  readonly occurrence?: Occurrence;
  readonly problem?: Problem;
}

function scan(args: readonly string[]): { occurrences: readonly Occurrence[]; problems: readonly Problem[] } {
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
  const flag = match[1]?.replaceAll("_", "-") ?? "";
  const inline = match[2];
  const row = rows.get(flag);
  if (row === undefined) {
    // Its value, if one follows, is not an argument of its own.
    const taken = inline === undefined && next?.startsWith("-") === false ? 2 : 1;
    return { taken, problem: { where: `--${flag}`, what: unknownFlag(flag) } };
  }
  if (inline !== undefined) return { taken: 1, occurrence: { flag, text: inline } };
  if (row.flag.valueName === undefined) return { taken: 1, occurrence: { flag, text: "true" } };
  if (next === undefined)
    return { taken: 1, problem: { where: `--${flag}`, what: `needs a value: ${row.flag.valueName}` } };
  return { taken: 2, occurrence: { flag, text: next } };
}

function readValues(occurrences: readonly Occurrence[]): { values: Values; problems: readonly Problem[] } {
  const values: Values = {};
  const problems: Problem[] = [];
  for (const { flag, text } of occurrences) {
    const row = rows.get(flag);
    if (row === undefined) continue;
    const parsed = row.flag.parse(text, values[row.key]);
    if (parsed.kind === "value") values[row.key] = parsed.value;
    else problems.push({ where: `--${flag}`, what: parsed.problem });
  }
  return { values, problems };
}

function withDefaults(values: Values): Options {
  const entries = Object.entries(flags).map(([key, flag]) => [key, values[key] ?? flag.defaultValue] as const);
  // oxlint-disable-next-line typescript/consistent-type-assertions -- each value came from the parse() or the default of its own row
  return Object.fromEntries(entries) as Options;
}

function unknownFlag(name: string): string {
  const near = [...rows.keys()].find((known) => distance(known, name) <= 2);
  return `is not a flag of this program${near === undefined ? "; --help lists them" : `; did you mean --${near}?`}`;
}

/** Levenshtein distance, for suggestions. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [i, letter] of left.split("").entries()) {
    const next = [i + 1];
    for (const [j, other] of right.split("").entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
