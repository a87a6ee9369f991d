import { flagName, flags } from "../app/options.ts";
import type { Flag } from "./flag.ts";

/** A flag that is answered and not a setting. */
interface CommandFlag {
  /** After one dash, in the place of the name. */
  readonly letter?: string;
  readonly help: string;
  /** As in Flag. */
  readonly differs?: string;
}

/** By name without dashes. */
export const commandFlags: ReadonlyMap<CommandFlagName, CommandFlag> = new Map<CommandFlagName, CommandFlag>([
  ["help", { letter: "h", help: "show this text" }],
  ["version", { help: "show the version", differs: "the version of this program, in one form: raw is taken for true" }],
]);

export type CommandFlagName = "help" | "version";

export function isCommandFlag(name: string): name is CommandFlagName {
  return name === "help" || name === "version";
}

/** Whether the flag is among the arguments, wherever it stands. A value other than false is as good as none. */
export function isAsked(name: CommandFlagName, args: readonly string[]): boolean {
  const letter = commandFlags.get(name)?.letter;
  return args.some(
    (arg) =>
      arg === `--${name}` ||
      (arg.startsWith(`--${name}=`) && arg !== `--${name}=false`) ||
      (letter !== undefined && arg === `-${letter}`),
  );
}

/** A setting and its key in the options. */
export interface Row {
  readonly key: string;
  readonly flag: Flag<unknown>;
}

/** Every setting by the name of its flag. */
export const rows: ReadonlyMap<string, Row> = new Map(
  Object.entries(flags).map(([key, flag]) => [flagName(key), { key, flag }]),
);

/** The setting with that key in the options. */
export function flagOfKey(key: string): Flag<unknown> | undefined {
  return rows.get(flagName(key))?.flag;
}
