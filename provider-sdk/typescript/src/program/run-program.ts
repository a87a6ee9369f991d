import process from "node:process";
import type { ProviderDefinition } from "../definition/provider.ts";
import { serveProvider } from "../server/serve-provider.ts";
import { ProviderStartError } from "../server/start-error.ts";
import type { ReadOptions } from "./read-options.ts";

/** A provider's main program. */
export interface ProviderProgram<Settings> {
  /** Its name, the prefix of each problem that it prints. */
  readonly name: string;
  /** The text of `--help`. */
  readonly help: string;
  /** What it was given, read. */
  readonly read: ReadOptions<Settings>;
  /** Makes the provider. */
  readonly create: (settings: Settings) => ProviderDefinition;
}

/**
 * Runs a provider's main program: prints the help, prints every problem on standard error with exit code 78, or serves the provider and
 * prints `provider ready <address>`, a line that the parent process can wait for.
 */
export async function runProgram<Settings extends { readonly endpoint?: string | undefined }>({
  name,
  help,
  read,
  create,
}: ProviderProgram<Settings>): Promise<void> {
  if (read.kind === "help") return void process.stdout.write(help);
  if (read.kind === "problems") {
    const { problems, exitCode } = new ProviderStartError("CONFIG_INVALID", read.problems);
    for (const problem of problems) process.stderr.write(`${name}: ${problem}\n`);
    process.exitCode = exitCode;
    return undefined;
  }
  const { endpoint } = read.settings;
  const { address } = await serveProvider(create(read.settings), { endpoint });
  process.stdout.write(`provider ready ${address}\n`);
  return undefined;
}
