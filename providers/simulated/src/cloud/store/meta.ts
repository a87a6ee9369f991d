import { createHash } from "node:crypto";
import { type Database, textOf } from "./database.ts";

/** Single values kept with the state. */
export const readMeta = (database: Database, key: string): string | undefined => {
  const row = database.get("SELECT value FROM meta WHERE key = ?", key);
  return row && textOf(row, "value");
};

export const writeMeta = (database: Database, key: string, value: string): void => {
  database.run("INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2", key, value);
};

/** Gives out ids that look random, are the same for the same seed, and never come twice, restarts included. */
export const newId = (database: Database, prefix: string): string => {
  const count = Number(readMeta(database, "ids") ?? "0") + 1;
  writeMeta(database, "ids", String(count));
  const digest = createHash("sha256")
    .update(`${readMeta(database, "seed") ?? "0"}/${count}`)
    .digest("hex");
  return `${prefix}-${digest.slice(0, 12)}`;
};
