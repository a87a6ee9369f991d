/** One option of a command line: parser, `--help`, completion and docs/reference/cli.md all read it. */
export interface Option {
  readonly type: "flag" | "text" | "texts" | "choice" | "number" | "duration";
  /** `-o`. */
  readonly letter?: string;
  /** What stands for the value in texts; a flag has none. */
  readonly valueName?: string;
  /** With type choice. */
  readonly choices?: readonly string[];
  /** Of type number. @default 99_999 */
  readonly most?: number;
  /** As it would be typed; absent: there is none, or it is told in the help. */
  readonly default?: string;
  /** What a shell offers as its value, besides choices. */
  readonly completes?: "files" | "folders";
  /** One or two sentences. */
  readonly help: string;
}

/** By name, without dashes. An option of the same name means the same, and has the same type, in all commands. */
export type OptionTable = Readonly<Record<string, Option>>;

/** The option of that name, which somebody typed: not what every object has, as `constructor`. */
export function optionIn(table: OptionTable, name: string): Option | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
