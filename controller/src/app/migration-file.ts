import { readFile } from "node:fs/promises";
import { DEFAULT_MIGRATION, type LeaderMigration, parseLeaderMigration } from "../options/leader-migration.ts";
import type { Options } from "../options/options.ts";
import { messageOf } from "../util/errors.ts";
import { UsageError } from "./usage-error.ts";

type MigrationOptions = Pick<Options, "enableLeaderMigration" | "leaderMigrationConfig" | "leaderElectResourceName">;

const BUILT_IN = { kind: "migration", migration: DEFAULT_MIGRATION } as const;

/** What the options say of controllers that move between programs; undefined: none does. Rejects with UsageError, all problems in it. */
export async function readMigration(options: MigrationOptions): Promise<LeaderMigration | undefined> {
  const { enableLeaderMigration, leaderMigrationConfig: path } = options;
  if (!enableLeaderMigration) return undefined;
  const reading = path === "" ? BUILT_IN : parseLeaderMigration(await read(path));
  if (reading.kind === "invalid")
    throw new UsageError(`--leader-migration-config ${path}: ${reading.problems.join("; ")}`);
  const { migration } = reading;
  if (migration.leaseName !== options.leaderElectResourceName) return migration;
  throw new UsageError(
    `--enable-leader-migration: the second Lease must be another than the first, and both are called ${migration.leaseName}`,
  );
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(`--leader-migration-config cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
