/** One option of a provider's program: what the command line, the environment, `--help` and the README need to know of it. */
export interface ProgramOption {
  /** A sentence or two, with unit and default. */
  readonly help: string;
  /** Word for the value in `--help`, such as `seconds`. */
  readonly valueName: string;
  /** Its environment variable. The command line counts before. */
  readonly env: string;
  /** May be given several times; in the environment the values are separated by spaces. Default: the last one counts. */
  readonly repeated?: boolean;
}

/** Options by name, without dashes, in the order of `--help`. */
export type ProgramOptions<Name extends string = string> = Readonly<Record<Name, ProgramOption>>;

/** What `--help` prints. */
export interface HelpText {
  /** Name of the program. */
  readonly program: string;
  /** What it does, in a sentence or two. */
  readonly about: string;
}

/** Makes the text of `--help`: a line for each option. */
export function formatHelp(options: ProgramOptions, { program, about }: HelpText): string {
  const rows = Object.entries(options).map(([name, { valueName, env, ...option }]) => ({
    left: `  --${name} <${valueName}>`,
    right: `${meaningOf(option)} [${env}]`,
  }));
  const width = Math.max(...rows.map(({ left }) => left.length)) + 2;
  return [
    `Usage: ${program} [options]`,
    "",
    about,
    "",
    ...rows.map(({ left, right }) => `${left.padEnd(width)}${right}`),
    "",
  ].join("\n");
}

/** The help, and whether it may be repeated. */
export const meaningOf = ({ help, repeated }: Pick<ProgramOption, "help" | "repeated">): string =>
  `${help}${repeated ? " May be repeated." : ""}`;
