import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";

export type Row = Record<string, SQLOutputValue>;

/** The cloud's SQLite file, with prepared statements kept. One process at a time may have it. */
export class Database {
  readonly #sqlite: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #depth = 0;

  /** @param path a file, or ":memory:" */
  constructor(path: string) {
    this.#sqlite = openExclusive(path);
    this.#sqlite.exec(schema);
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepare(sql).all(...values);
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepare(sql).get(...values);
  }

  /** Returns how many rows were changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepare(sql).run(...values).changes);
  }

  /** Returns the id of the new row. */
  insert(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepare(sql).run(...values).lastInsertRowid);
  }

  /** All or nothing. Inside another transaction it is part of that one. */
  transaction<T>(body: () => T): T {
    if (this.#depth > 0) return body();
    this.#sqlite.exec("BEGIN IMMEDIATE");
    this.#depth += 1;
    try {
      const result = body();
      this.#sqlite.exec("COMMIT");
      return result;
    } catch (error) {
      this.#sqlite.exec("ROLLBACK");
      throw error;
    } finally {
      this.#depth -= 1;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#sqlite.close();
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#sqlite.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** The state file cannot be used: not a database, no rights, or another cloud has it. */
export class StateFileError extends Error {
  constructor(path: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`cannot open the state file ${path}: ${reason}. Give another --state, or end the process that has it.`, {
      cause,
    });
    this.name = "StateFileError";
  }
}

export const textOf = (row: Row, column: string): string => {
  const value = row[column];
  if (typeof value !== "string") throw new Error(`state file: column ${column} holds no text but ${typeof value}`);
  return value;
};

export const integerOf = (row: Row, column: string): number => {
  const value = row[column];
  if (typeof value !== "number") throw new Error(`state file: column ${column} is not a number but ${typeof value}`);
  return value;
};

const openExclusive = (path: string): DatabaseSync => {
  try {
    const sqlite = new DatabaseSync(path, { timeout: 2000 });
    // NORMAL with a write-ahead log keeps every committed change when the process is killed; only a power cut may lose the last.
    sqlite.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    // Takes the exclusive lock now instead of at the first write, so that a second process fails at its start.
    sqlite.exec("BEGIN IMMEDIATE; COMMIT;");
    return sqlite;
  } catch (error) {
    throw new StateFileError(path, error);
  }
};

/**
 * `next_seq` of a version that is the current one. Below 2^53, because SQLite integers are read as numbers. Written into the
 * statements as a literal: only so does SQLite see that a partial index fits.
 */
export const currentVersion = Number.MAX_SAFE_INTEGER;

/**
 * `versions` holds every version of every resource: what a resource looks like now, what it looked like for a lagging
 * reader, and the change feed use the same rows. `next_seq` is the sequence number of the version after it, or the
 * greatest integer while it is the current one.
 */
const schema = `
CREATE TABLE IF NOT EXISTS versions (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  next_seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  account TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  zone TEXT NOT NULL,
  state TEXT NOT NULL,
  change TEXT NOT NULL,
  time_ms INTEGER NOT NULL,
  due_ms INTEGER,
  body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS versions_by_id ON versions (kind, account, id, next_seq);
CREATE INDEX IF NOT EXISTS versions_by_name ON versions (kind, account, name, next_seq);
CREATE INDEX IF NOT EXISTS versions_by_time ON versions (time_ms);
CREATE INDEX IF NOT EXISTS versions_superseded ON versions (next_seq) WHERE next_seq <> ${currentVersion};
CREATE INDEX IF NOT EXISTS versions_current ON versions (kind, account, state, change) WHERE next_seq = ${currentVersion};
CREATE INDEX IF NOT EXISTS versions_due ON versions (due_ms) WHERE next_seq = ${currentVersion} AND due_ms IS NOT NULL;
CREATE TABLE IF NOT EXISTS allocations (
  pool TEXT NOT NULL, position INTEGER NOT NULL, owner TEXT NOT NULL, PRIMARY KEY (pool, position)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS allocations_by_owner ON allocations (owner);
CREATE TABLE IF NOT EXISTS targets (load_balancer TEXT PRIMARY KEY, instances TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS accounts (key_hash TEXT PRIMARY KEY, id TEXT NOT NULL, role TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`;
