import { parseArgs, type ParseArgsOptionsConfig } from "node:util";

/** One option of a program: what the parser and --help need to know of it. */
export interface Flag {
  /** What --help says: one sentence, default and unit included. */
  readonly help: string;
  /** Word for the value in --help. Without one the flag takes no value. */
  readonly valueName?: string;
  /** Its environment variable, if it is not named by the rule. */
  readonly env?: string;
  /** May be given several times; in the environment the values are separated by spaces. */
  readonly repeated?: boolean;
}

export type Flags = Readonly<Record<string, Flag>>;

/** What was given: the command line counts before the environment. */
export interface FlagValues<Name extends string> {
  readonly one: (name: Name) => string | undefined;
  readonly all: (name: Name) => readonly string[];
}

export type ParsedFlags<Name extends string> =
  | { readonly kind: "values"; readonly values: FlagValues<Name> }
  | { readonly kind: "help" }
  | { readonly kind: "problem"; readonly problem: string };

export interface FlagSource {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of the environment variables: SIMCLOUD_ for `--state` gives SIMCLOUD_STATE. */
  readonly envPrefix: string;
}

/** Reads the command line and the environment. */
export function parseFlags<Table extends Flags>(table: Table, source: FlagSource): ParsedFlags<keyof Table & string> {
  const options: ParseArgsOptionsConfig = { help: { type: "boolean" } };
  for (const [name, flag] of Object.entries(table)) {
    options[name] = { type: flag.valueName === undefined ? "boolean" : "string", multiple: flag.repeated ?? false };
  }
  try {
    const given = parseArgs({ args: [...source.argv], options }).values;
    if (given["help"] === true) return { kind: "help" };
    const all = (name: string): readonly string[] => {
      const value = given[name];
      if (value === undefined) return fromEnvironment(table, source, name);
      return typeof value === "object" ? value.map(String) : [String(value)];
    };
    return { kind: "values", values: { all, one: (name) => all(name)[0] } };
  } catch (error) {
    // parseArgs says which argument is wrong and why, in one or two sentences.
    const problem = error instanceof Error ? error.message : String(error);
    return { kind: "problem", problem: `${problem} (--help lists all options)` };
  }
}

/** The text of --help. */
export function formatHelp(table: Flags, envPrefix: string, usage: string): string {
  const rows = Object.entries(table).map(([name, flag]) => ({
    left: `  --${name}${flag.valueName === undefined ? "" : ` <${flag.valueName}>`}`,
    right: `${flag.help}${flag.repeated ? " May be repeated." : ""} [${envName(flag, envPrefix, name)}]`,
  }));
  const width = Math.max(...rows.map(({ left }) => left.length)) + 2;
  return [usage, "", ...rows.map(({ left, right }) => `${left.padEnd(width)}${right}`), ""].join("\n");
}

function fromEnvironment(table: Flags, source: FlagSource, name: string): readonly string[] {
  const text = source.env[envName(table[name], source.envPrefix, name)];
  if (text === undefined || text === "") return [];
  return table[name]?.repeated ? text.split(/\s+/) : [text];
}

function envName(flag: Flag | undefined, prefix: string, name: string): string {
  return flag?.env ?? `${prefix}${name.toUpperCase().replaceAll("-", "_")}`;
}
