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
