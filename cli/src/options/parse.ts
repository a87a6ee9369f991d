import { parseArgs } from "node:util";
import type { Command } from "../commands/command.ts";
import { type Option, type OptionTable, OptionValues, optionIn, valueProblem } from "./option.ts";
import { COMMON_OPTIONS } from "./shared-options.ts";

export type Parsed =
  | {
      readonly kind: "run";
      readonly command: Command;
      readonly operands: readonly string[];
      readonly values: OptionValues;
    }
  /** `--help`, `help`, or an empty command line; without a command: of the program. */
  | { readonly kind: "help"; readonly command: Command | undefined; readonly topic: string }
  /** Without a command: the command is unknown. */
  | { readonly kind: "invalid"; readonly command: Command | undefined; readonly problems: readonly string[] };

/** A token of node:util. */
interface GivenOption {
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

interface Given {
  readonly words: readonly string[];
  readonly options: readonly {
    readonly shown: string;
    readonly name: string;
    readonly text: string | undefined;
    readonly isInline: boolean;
  }[];
}

/** Parses a command line. Options may be before, between and after operands. */
export function parseCommandLine(args: readonly string[], commands: readonly Command[]): Parsed {
  const given = tokens(args, commands);
  const [first, ...others] = given.words;
  if (first === "help") return { kind: "help", command: commandOf(others, commands)?.command, topic: others.join(" ") };
  const found = commandOf(given.words, commands);
  const wantsHelp = given.options.some(({ name }) => name === "help");
  if (wantsHelp) return { kind: "help", command: found?.command, topic: given.words.join(" ") };
  if (first === undefined) return withoutCommand(given, commands);
  if (found === undefined)
    return { kind: "invalid", command: undefined, problems: [unknownCommand(given.words, commands)] };
  const { command, operands } = found;
  const table = { ...COMMON_OPTIONS, ...command.options };
  const typed = new Map<string, readonly string[]>();
  const problems: string[] = [];
  for (const { shown, name, text, isInline } of given.options) {
    const option = optionIn(table, name);
    const value = text ?? (option?.type === "flag" ? "true" : undefined);
    const problem = problemOf(shown, command.name, table, option, value, isInline);
    if (problem !== undefined) problems.push(problem);
    else if (value !== undefined) typed.set(name, [...(typed.get(name) ?? []), value]);
  }
  if (problems.length > 0) return { kind: "invalid", command, problems };
  return { kind: "run", command, operands, values: new OptionValues(table, typed) };
}

/** Options without a command. `--version` runs the command; others are unknown. */
function withoutCommand({ options }: Given, commands: readonly Command[]): Parsed {
  const known = allOptions(commands);
  const version = options.some(({ name }) => name === "version") ? commandOf(["version"], commands) : undefined;
  if (version !== undefined) return { kind: "run", ...version, values: new OptionValues(COMMON_OPTIONS, new Map()) };
  const problems = options
    .filter(({ name }) => optionIn(known, name) === undefined)
    .map(({ shown }) => `unknown option ${shown}`);
  return problems.length > 0
    ? { kind: "invalid", command: undefined, problems }
    : { kind: "help", command: undefined, topic: "" };
}

function allOptions(commands: readonly Command[]): OptionTable {
  return Object.assign({}, COMMON_OPTIONS, ...commands.map(({ options }) => options));
}

/** The command at the start of the words; the longest match. */
export function commandOf(
  words: readonly string[],
  commands: readonly Command[],
): { readonly command: Command; readonly operands: readonly string[] } | undefined {
  const matching = commands
    .map((command) => ({ command, length: command.name.split(" ").length }))
    .filter(({ command, length }) => words.slice(0, length).join(" ") === command.name)
    .toSorted((left, right) => right.length - left.length);
  const [longest] = matching;
  return longest && { command: longest.command, operands: words.slice(longest.length) };
}

function tokens(args: readonly string[], commands: readonly Command[]): Given {
  const options = Object.fromEntries(
    Object.entries(allOptions(commands)).map(([name, { type, letter }]) => [
      name,
      { type: type === "flag" ? "boolean" : "string", ...(letter === undefined ? {} : { short: letter }) } as const,
    ]),
  );
  const result = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  return {
    words: result.tokens.flatMap((token) => (token.kind === "positional" ? [token.value] : [])),
    options: result.tokens.flatMap((token) =>
      token.kind === "option"
        ? [{ shown: token.rawName, name: token.name, text: valueOf(token), isInline: token.inlineValue === true }]
        : [],
    ),
  };
}

/** `-o=json` is the same as `-o json`, as in kubectl. */
function valueOf({ rawName, value, inlineValue }: GivenOption): string | undefined {
  return inlineValue === true && !rawName.startsWith("--") ? value?.replace(/^=/, "") : value;
}

function problemOf(
  shown: string,
  command: string,
  table: OptionTable,
  option: Option | undefined,
  value: string | undefined,
  isInline: boolean,
): string | undefined {
  if (option === undefined) {
    const near = nearest(
      shown,
      Object.keys(table).map((name) => `--${name}`),
    );
    return `${command}: unknown option ${shown}${near === undefined ? "" : `; did you mean ${near}?`}`;
  }
  // In `--context --watch`, --watch is an option; as a value it is written `--context=--watch`.
  const isMissing = value === undefined || (!isInline && option.type !== "flag" && /^-./.test(value));
  if (isMissing) return `${shown} requires a value: ${option.valueName ?? "value"}`;
  const problem = valueProblem(option, value);
  return problem && `${shown} ${problem}`;
}

function unknownCommand(words: readonly string[], commands: readonly Command[]): string {
  const names = commands.filter(({ isHidden }) => isHidden !== true).map(({ name }) => name);
  const [first = ""] = words;
  const below = names.filter((name) => name.startsWith(`${first} `));
  if (below.length > 0) return `incomplete command ${first}; use ${below.join(" or ")}`;
  const near = nearest(first, names);
  return `unknown command ${first}; ${near === undefined ? `use one of ${names.join(", ")}` : `did you mean ${near}?`}`;
}

/** Names with a larger distance are not suggested. */
const MAX_DISTANCE = 2;

/** The name that was most likely misspelled. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const limit = Math.min(MAX_DISTANCE, Math.floor(name.replaceAll("-", "").length / 2));
  const distances = known.map((candidate) => ({ candidate, far: distance(candidate, name) }));
  return distances.filter(({ far }) => far <= limit).toSorted((left, right) => left.far - right.far)[0]?.candidate;
}

/** Levenshtein distance. */
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
