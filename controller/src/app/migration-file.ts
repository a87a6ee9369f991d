import { readFile } from "node:fs/promises";
import { DEFAULT_MIGRATION, type LeaderMigration, parseLeaderMigration } from "../options/leader-migration.ts";
import type { Options } from "../options/options.ts";
import { messageOf } from "../util/errors.ts";
import { UsageError } from "./usage-error.ts";

type MigrationOptions = Pick<Options, "enableLeaderMigration" | "leaderMigrationConfig">;

/** What the options say of controllers that move between programs; undefined: none does. Rejects with UsageError, all problems in it. */
export async function readMigration(options: MigrationOptions): Promise<LeaderMigration | undefined> {
  const { enableLeaderMigration, leaderMigrationConfig: path } = options;
  if (!enableLeaderMigration) return undefined;
  if (path === "") return DEFAULT_MIGRATION;
  const reading = parseLeaderMigration(await read(path));
  if (reading.kind === "migration") return reading.migration;
  throw new UsageError(`--leader-migration-config ${path}: ${reading.problems.join("; ")}`);
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(`--leader-migration-config cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
