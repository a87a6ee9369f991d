import type { ReadText } from "../options/text-file.ts";
import { type LeaderMigration, readMigration } from "../leadership/migration.ts";
import type { Options } from "./options.ts";
import type { Problem } from "../options/flag.ts";
import { providerTlsFileProblems } from "../provider/options.ts";
import { readTracing } from "../telemetry/tracing-flags.ts";
import type { TracingSettings } from "../telemetry/tracing-settings.ts";

/** What the process takes at its start from files that settings name, and from other programs' variables. None of it can be reloaded. */
export interface StartFiles {
  /** Controllers that move between programs; undefined: none does. */
  readonly migration: LeaderMigration | undefined;
  /** undefined: there are to be no traces. */
  readonly tracing: TracingSettings | undefined;
  readonly problems: readonly Problem[];
}

/** Every problem is found. */
export function readStartFiles(
  options: Options,
  environment: Readonly<Record<string, string | undefined>>,
  readText: ReadText,
): StartFiles {
  const migration = readMigration(options, readText);
  const tracing = readTracing(options, environment, readText);
  return {
    migration: migration.value,
    tracing: tracing.value,
    problems: [...providerTlsFileProblems(options, readText), ...migration.problems, ...tracing.problems],
  };
}
