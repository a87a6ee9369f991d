import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { OptionValues, type ProgramOptions } from "./options.ts";

/** Variables of the process. */
export type ProgramEnvironment = Readonly<Record<string, string | undefined>>;

/** What the program was given. */
export interface ProgramInput {
  /** The arguments after the program's name: `process.argv.slice(2)`. */
  readonly argv: readonly string[];
  /** `process.env`. */
  readonly env: ProgramEnvironment;
}

/** Settings, or every problem with the given values. */
export type ReadOptions<Settings> =
  | { readonly kind: "settings"; readonly settings: Settings }
  | { readonly kind: "help" }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

/** Converts values to settings; adds problems to `values.problems`. */
export type SettingsFrom<Name extends string, Settings> = (
  values: OptionValues<Name>,
  env: ProgramEnvironment,
) => Settings;

/** Reads the command line and the environment; the command line counts before. Nothing is read from elsewhere. */
export function readOptions<Name extends string, Settings>(
  options: ProgramOptions<Name>,
  { argv, env }: ProgramInput,
  toSettings: SettingsFrom<Name, Settings>,
): ReadOptions<Settings> {
  const config: ParseArgsOptionsConfig = { help: { type: "boolean" } };
  for (const name of Object.keys(options)) config[name] = { type: "string", multiple: true };
  let given: ReturnType<typeof parseArgs>["values"];
  try {
    given = parseArgs({ args: [...argv], options: config }).values;
  } catch (error) {
    // parseArgs says which argument is wrong and why, in one or two sentences.
    const problem = error instanceof Error ? error.message : String(error);
    return { kind: "problems", problems: [`${problem} (--help lists all options)`] };
  }
  if (given["help"] === true) return { kind: "help" };
  const values = new OptionValues(options, (name) => {
    const onCommandLine = given[name];
    return Array.isArray(onCommandLine) ? onCommandLine.map(String) : fromEnvironment(options, name, env);
  });
  const settings = toSettings(values, env);
  const { problems } = values;
  return problems.length > 0 ? { kind: "problems", problems } : { kind: "settings", settings };
}

function fromEnvironment<Name extends string>(
  options: ProgramOptions<Name>,
  name: Name,
  env: ProgramEnvironment,
): readonly string[] {
  const { env: variable, repeated } = options[name];
  const text = env[variable]?.trim() ?? "";
  if (text === "") return [];
  return repeated ? text.split(/\s+/) : [text];
}
