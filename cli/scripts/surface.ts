import { COMMANDS } from "../src/commands/commands.ts";
import { ERROR_CODES } from "../src/error-codes.ts";
import { EXIT_TEXTS } from "../src/exit-codes.ts";
import { optionName } from "../src/options/help.ts";
import type { OptionTable } from "../src/options/option.ts";
import { COMMON_OPTIONS } from "../src/options/shared-options.ts";

/** docs/surface/cli.txt: commands, options, error codes and exit codes, one per line. What `-o json` writes is in operator-api.txt. */
export function commandSurface(): string {
  const lines = [
    ...COMMANDS.filter(({ isHidden }) => isHidden !== true).flatMap(({ name, operands, options, exitCodes = {} }) => [
      `${name} ${operands}`.trimEnd(),
      ...optionLines(name, options),
      ...Object.keys(exitCodes).map((code) => `${name} exit ${code}`),
    ]),
    ...optionLines("*", COMMON_OPTIONS),
    ...Object.keys(ERROR_CODES).map((code) => `* error ${code}`),
    ...Object.keys(EXIT_TEXTS).map((code) => `* exit ${code}`),
  ];
  return `${[...new Set(lines)].toSorted().join("\n")}\n`;
}

function optionLines(command: string, options: OptionTable): readonly string[] {
  return Object.entries(options).map(([name, option]) => {
    const [choices, preset] = [option.choices?.join("|") ?? option.type, option.default];
    return `${command} ${optionName(name, option)} ${choices}${preset === undefined ? "" : ` default ${preset}`}`;
  });
}
