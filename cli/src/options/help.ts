import type { Command } from "../commands/command.ts";
import { EXIT_TEXTS } from "../exit-codes.ts";
import { hanging, wrap } from "../terminal/layout.ts";
import type { Option, OptionTable } from "./option.ts";
import { COMMON_OPTIONS } from "./shared-options.ts";

/** Longer lines are hard to read. */
const MAX_COLUMNS = 100;

const INDENT = 6;

/** `--help` of the program. */
export function programHelp(program: string, commands: readonly Command[], columns: number | undefined): string {
  const width = Math.min(columns ?? MAX_COLUMNS, MAX_COLUMNS);
  const shown = commands.filter(({ isHidden }) => isHidden !== true);
  const longest = Math.max(...shown.map(({ name }) => name.length));
  return [
    `Usage: ${program} COMMAND [options]`,
    "",
    ...wrap(
      "Inspect a Cloudwire controller: the state of its objects, the causes of problems, and how to fix them.",
      width,
    ),
    "",
    ...shown.map(({ name, summary }) => hanging(`  ${name.padEnd(longest)}  `, summary, width)),
    "",
    ...wrap(`Use "${program} COMMAND --help" for details of a command.`, width),
    "",
  ].join("\n");
}

/** `--help` of one command. */
export function commandHelp(program: string, command: Command, columns: number | undefined): string {
  const width = Math.min(columns ?? MAX_COLUMNS, MAX_COLUMNS);
  const { name, operands, about, options, examples } = command;
  return [
    `Usage: ${[program, name, operands, "[options]"].filter((part) => part !== "").join(" ")}`,
    ...about.flatMap((paragraph) => ["", ...wrap(paragraph, width)]),
    ...(examples.length === 0 ? [] : ["", "Examples:"]),
    ...examples.flatMap(([line, does]) => [
      `  ${program} ${line}`,
      ...wrap(does, width, INDENT).map((text) => `${" ".repeat(INDENT)}${text}`),
    ]),
    "",
    "Options:",
    ...optionLines({ ...options, ...COMMON_OPTIONS }, width),
    "",
    "Exit codes:",
    ...Object.entries(exitCodesOf(command)).map(([code, text]) => hanging(`  ${code.padEnd(2)}  `, text, width)),
    "",
  ].join("\n");
}

/** By number. */
function exitCodesOf({ exitCodes }: Pick<Command, "exitCodes">): Readonly<Record<string, string>> {
  return { ...EXIT_TEXTS, ...exitCodes };
}

/** `-o, --output format`. */
export function optionName(name: string, { letter, valueName }: Option): string {
  return `${letter === undefined ? "" : `-${letter}, `}--${name}${valueName === undefined ? "" : ` ${valueName}`}`;
}

/** Its help, with choices and default. */
export function optionText({ help, choices, default: value }: Option): string {
  const among = choices === undefined ? "" : ` One of ${choices.join(", ")}.`;
  return `${help}${among}${value === undefined ? "" : ` Default: ${value}.`}`;
}

function optionLines(options: OptionTable, width: number): readonly string[] {
  return Object.entries(options).flatMap(([name, option]) => [
    `  ${optionName(name, option)}`,
    ...wrap(optionText(option), width, INDENT).map((line) => `${" ".repeat(INDENT)}${line}`),
  ]);
}
