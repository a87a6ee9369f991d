import type { Flag } from "./flag.ts";

/** By key in the options: `concurrentNodeSyncs`. */
export type Flags = Readonly<Record<string, Flag<unknown>>>;

/** Durations are in milliseconds. */
export type OptionsOf<F> = { readonly [Key in keyof F]: F[Key] extends Flag<infer Value> ? Value : never };

export interface Row {
  readonly key: string;
  /** Without dashes: `concurrent-node-syncs`. */
  readonly name: string;
  /** In the configuration file: `NodeController.ConcurrentNodeSyncs`; undefined for the flag that names the file. */
  readonly path: string | undefined;
  readonly flag: Flag<unknown>;
}

/** All flags of a program, in the order of `--help`. */
export interface FlagTable<Options> {
  readonly byName: ReadonlyMap<string, Row>;
  readonly byKey: ReadonlyMap<string, Row>;
  /** In the configuration file. */
  readonly byPath: ReadonlyMap<string, Row>;
  /** By path in the configuration file of an earlier minor of upstream. */
  readonly byPreviousPath: ReadonlyMap<string, Row>;
  readonly defaults: Options;
}

/** Key of the flag that names the configuration file. */
export const CONFIG = "config";

/** Section of the settings that upstream lacks. */
const OWN_SECTION = "Cloudwire";

export function flagTable<F extends Flags>(flags: F): FlagTable<OptionsOf<F>> {
  const rows = Object.entries(flags).map(([key, flag]) => ({
    key,
    name: flagName(key),
    path: pathOf(key, flag),
    flag,
  }));
  const defaults = Object.fromEntries(rows.map(({ key, flag }) => [key, flag.defaultValue]));
  return {
    byName: new Map(rows.map((row) => [row.name, row])),
    byKey: new Map(rows.map((row) => [row.key, row])),
    byPath: rowsBy(rows, ({ path }) => path),
    byPreviousPath: rowsBy(rows, ({ flag }) => flag.previousPath),
    // oxlint-disable-next-line typescript/consistent-type-assertions -- each value is the default of its own row
    defaults: defaults as OptionsOf<F>,
  };
}

function rowsBy(rows: readonly Row[], of: (row: Row) => string | undefined): ReadonlyMap<string, Row> {
  return new Map(
    rows.flatMap((row) => {
      const key = of(row);
      return key === undefined ? [] : [[key, row] as const];
    }),
  );
}

/** `concurrentNodeSyncs` to `concurrent-node-syncs`. */
export function flagName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function pathOf(key: string, { path }: Flag<unknown>): string | undefined {
  if (key === CONFIG) return undefined;
  return path ?? `${OWN_SECTION}.${key.charAt(0).toUpperCase()}${key.slice(1)}`;
}

/** A flag that prints something. */
interface CommandFlag {
  /** Short name. */
  readonly letter?: string;
  readonly help: string;
  readonly differs?: string;
}

/** By name without dashes. */
export const commandFlags: ReadonlyMap<CommandFlagName, CommandFlag> = new Map<CommandFlagName, CommandFlag>([
  ["help", { letter: "h", help: "show this text" }],
  ["version", { help: "show the version", differs: "prints the version of this program; raw is the same as true" }],
]);

export type CommandFlagName = "help" | "version";

export function isCommandFlag(name: string): name is CommandFlagName {
  return name === "help" || name === "version";
}

/** A value other than false is the same as none. */
export function isAsked(name: CommandFlagName, args: readonly string[]): boolean {
  const letter = commandFlags.get(name)?.letter;
  return args.some(
    (arg) =>
      arg === `--${name}` ||
      (arg.startsWith(`--${name}=`) && arg !== `--${name}=false`) ||
      (letter !== undefined && arg === `-${letter}`),
  );
}
