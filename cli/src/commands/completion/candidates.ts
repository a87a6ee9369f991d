import { type Option, type OptionTable, optionIn } from "../../options/option.ts";
import { commandOf } from "../../options/parse.ts";
import { COMMON_OPTIONS } from "../../options/shared-options.ts";
import type { Call, Command } from "../command.ts";

/** Completions of the word at the cursor. */
export interface Candidates {
  readonly words: readonly string[];
  /** Paths that the shell completes in addition. */
  readonly paths: "none" | "files" | "directories";
  /** Add no space after the word: it continues. */
  readonly goesOn: boolean;
}

const NOTHING: Candidates = { words: [], paths: "none", goesOn: false };

/**
 * Completions of the last word of a command line, which does not include the program name.
 * @param callOf parses the command line up to the cursor, for requests to the cluster; undefined: it is not valid yet
 */
export async function candidates(
  words: readonly string[],
  commands: readonly Command[],
  callOf: (words: readonly string[]) => Call | undefined,
): Promise<Candidates> {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  const shown = commands.filter(({ isHidden }) => isHidden !== true);
  const table: OptionTable = Object.assign({}, COMMON_OPTIONS, ...shown.map(({ options }) => options));
  const operands = wordsOf(before, table);
  const found = commandOf(operands, shown);
  const known = found === undefined ? table : { ...COMMON_OPTIONS, ...found.command.options };

  const inline = /^(--[\w-]+)=(.*)$/s.exec(current);
  const pending = inline?.[1] ?? pendingOption(before.at(-1), table);
  if (pending !== undefined)
    return valuesOf(optionOf(pending, known), inline?.[2] ?? current, inline ? `${inline[1] ?? ""}=` : "");
  if (current.startsWith("-"))
    return beginning(
      Object.keys(known).map((name) => `--${name}`),
      current,
    );
  if (found === undefined) return beginning(nextWords(operands, shown), current);
  if (found.command.complete === undefined) return NOTHING;
  const call = callOf(before);
  const offered = call === undefined ? [] : await found.command.complete(call, found.operands, current);
  return {
    ...beginning(offered, current),
    goesOn: offered.some((word) => word.startsWith(current) && word.endsWith("/")),
  };
}

/** Words that are neither options nor values of options. */
function wordsOf(before: readonly string[], table: OptionTable): readonly string[] {
  return before.filter((word, index) => !word.startsWith("-") && pendingOption(before[index - 1], table) === undefined);
}

/** The option whose value the next word is. */
function pendingOption(word: string | undefined, table: OptionTable): string | undefined {
  if (word === undefined || !word.startsWith("-") || word.includes("=")) return undefined;
  const option = optionOf(word, table);
  return option === undefined || option.type === "flag" ? undefined : word;
}

function optionOf(word: string, table: OptionTable): Option | undefined {
  if (word.startsWith("--")) return optionIn(table, word.slice(2));
  return Object.values(table).find(({ letter }) => word === `-${letter ?? ""}`);
}

function valuesOf(option: Option | undefined, current: string, prefix: string): Candidates {
  const words = (option?.choices ?? [])
    .filter((choice) => choice.startsWith(current))
    .map((choice) => `${prefix}${choice}`);
  return { words, paths: option?.completes ?? "none", goesOn: false };
}

/** `node-deletion` after `approve`. */
function nextWords(operands: readonly string[], commands: readonly Command[]): readonly string[] {
  const matching = commands
    .map(({ name }) => name.split(" "))
    .filter((name) => operands.every((word, index) => name[index] === word));
  return [
    ...new Set([
      ...matching.flatMap((name) => name[operands.length] ?? []),
      ...(operands.length === 0 ? ["help"] : []),
    ]),
  ];
}

function beginning(words: readonly string[], current: string): Candidates {
  return { words: words.filter((word) => word.startsWith(current)), paths: "none", goesOn: false };
}

/** Bits of the last line (github.com/spf13/cobra v1.10, ShellCompDirective); kubectl reads them from plug-ins. */
const NO_SPACE = 2;
const NO_FILES = 4;
const DIRECTORIES = 16;

/** One completion per line, then a colon and the directive for the shell. */
export function completionLines({ words, paths, goesOn }: Candidates): string {
  const files = { none: NO_FILES, files: 0, directories: DIRECTORIES }[paths];
  return `${[...words, `:${files + (goesOn ? NO_SPACE : 0)}`].join("\n")}\n`;
}
