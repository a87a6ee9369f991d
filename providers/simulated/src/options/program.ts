import { type Flags, type FlagValues, formatHelp, parseFlags } from "./flags.ts";

/** Options, or everything that is wrong with what was given. */
export type ParsedOptions<Options> =
  | { readonly kind: "options"; readonly options: Options }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

export interface Program<Table extends Flags, Options> {
  /** Stands before each line that says what is wrong. */
  readonly name: string;
  readonly flags: Table;
  readonly envPrefix: string;
  /** First part of --help. */
  readonly usage: string;
  /** Exit code for wrong options. */
  readonly problemExitCode: number;
  readonly toOptions: (values: FlagValues<keyof Table & string>) => ParsedOptions<Options>;
  readonly run: (options: Options) => Promise<void>;
  /** True for errors whose message says all that the user needs; others are bugs and end with their stack. */
  readonly isForUser: (error: unknown) => error is Error;
}

/** Runs a program from its command line and environment. What the user did wrong ends in plain lines, one each. */
export async function runProgram<Table extends Flags, Options>(program: Program<Table, Options>): Promise<void> {
  const { flags, envPrefix, usage } = program;
  const parsed = parseFlags(flags, { argv: process.argv.slice(2), env: process.env, envPrefix });
  switch (parsed.kind) {
    case "help":
      process.stdout.write(formatHelp(flags, envPrefix, usage));
      return;
    case "problem":
      fail(program, [parsed.problem]);
      return;
    case "values": {
      const options = program.toOptions(parsed.values);
      if (options.kind === "problems") fail(program, options.problems);
      else await runWith(program, options.options);
      return;
    }
  }
  parsed satisfies never;
}

async function runWith<Table extends Flags, Options>(
  program: Program<Table, Options>,
  options: Options,
): Promise<void> {
  try {
    await program.run(options);
  } catch (error) {
    if (!program.isForUser(error)) throw error;
    fail(program, [error.message]);
  }
}

function fail(
  { name, problemExitCode }: Pick<Program<Flags, unknown>, "name" | "problemExitCode">,
  problems: readonly string[],
): void {
  for (const problem of problems) process.stderr.write(`${name}: ${problem}\n`);
  process.exitCode = problemExitCode;
}
