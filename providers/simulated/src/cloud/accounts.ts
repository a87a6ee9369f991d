import { createHash } from "node:crypto";
import type { AccountSpec } from "../api/admin.ts";
import { type Database, textOf } from "./store/database.ts";

export interface Caller {
  readonly account: string;
  readonly role: "editor" | "viewer";
}

/** Adds a key; an account may have several, each with its role. */
export const addAccount = (database: Database, spec: AccountSpec): void => {
  database.run(
    `INSERT INTO accounts (id, role, key_hash) VALUES (?1, ?2, ?3)
     ON CONFLICT (key_hash) DO UPDATE SET id = ?1, role = ?2`,
    spec.id,
    spec.role ?? "editor",
    hashOf(spec.key),
  );
};

/** Revokes a key; an unknown key is not an error. */
export const revokeKey = (database: Database, key: string): void => {
  database.run("DELETE FROM accounts WHERE key_hash = ?", hashOf(key));
};

/** The owner of this key; undefined: none. */
export const callerOf = (database: Database, key: string): Caller | undefined => {
  const row = database.get("SELECT id, role FROM accounts WHERE key_hash = ?", hashOf(key));
  return row && { account: textOf(row, "id"), role: textOf(row, "role") === "viewer" ? "viewer" : "editor" };
};

/** Keys are compared by hash, so the state file has no keys, and the comparison time reveals nothing. */
const hashOf = (key: string): string => createHash("sha256").update(key).digest("hex");
