import type { SQLInputValue } from "node:sqlite";
import type { ResourceKind } from "../../api/events.ts";
import { currentVersion as current, type Database, integerOf, type Row, textOf } from "./database.ts";

/** What the store needs to know of a resource besides keeping it. */
export interface Stored {
  readonly id: string;
  readonly name: string;
  readonly zone?: string;
  readonly state?: string;
}

/** A kind of resource and the check that a stored body is one. */
export interface Kind<T extends Stored> {
  readonly name: ResourceKind;
  readonly check: (value: unknown) => value is T;
}

export interface ListFilter {
  readonly ids?: readonly string[] | undefined;
  readonly names?: readonly string[] | undefined;
  readonly zones?: readonly string[] | undefined;
  readonly states?: readonly string[] | undefined;
  /** Pairs that all must match. */
  readonly tags?: readonly (readonly [key: string, value: string])[] | undefined;
}

export interface Change {
  readonly seq: number;
  readonly timeMs: number;
  readonly kind: string;
  readonly id: string;
  readonly change: string;
  readonly body: string;
}

export type Versioned<T> = T & { readonly revision: number };

/** All resources in all their versions. A snapshot is the sequence number of the last change it shows. */
export class ResourceStore {
  readonly #database: Database;
  readonly #now: () => number;
  readonly #onChange: () => void;

  /** @param onChange called after each write, inside its transaction */
  constructor(database: Database, now: () => number, onChange: () => void) {
    this.#database = database;
    this.#now = now;
    this.#onChange = onChange;
  }

  /** The newest snapshot. */
  latest(): number {
    const row = this.#database.get("SELECT seq FROM sqlite_sequence WHERE name = 'versions'");
    return row ? integerOf(row, "seq") : 0;
  }

  /** The snapshot as it was then. */
  snapshotAt(timeMs: number): number {
    const row = this.#database.get(
      "SELECT seq FROM versions WHERE time_ms <= ? ORDER BY time_ms DESC, seq DESC LIMIT 1",
      timeMs,
    );
    return Math.max(row ? integerOf(row, "seq") : 0, this.floor());
  }

  get<T extends Stored>(
    kind: Kind<T>,
    account: string,
    id: string,
    snapshot = this.latest(),
  ): Versioned<T> | undefined {
    const row = this.#database.get(
      "SELECT seq, body FROM versions WHERE kind = ? AND account = ? AND id = ? AND next_seq > ? AND seq <= ? AND change <> 'deleted'",
      kind.name,
      account,
      id,
      snapshot,
      snapshot,
    );
    return row && readBody(kind, row);
  }

  /** In the order of ids, beginning after `afterId`. */
  list<T extends Stored>(
    kind: Kind<T>,
    account: string,
    filter: ListFilter = {},
    page: { readonly snapshot?: number; readonly afterId?: string; readonly limit?: number } = {},
  ): Versioned<T>[] {
    const snapshot = page.snapshot ?? this.latest();
    const { sql, values } = filterSql(filter);
    // A plus keeps SQLite from walking through all ids in order when the names are the shorter way.
    const id = filter.names ? "+id" : "id";
    const rows = this.#database.all(
      `SELECT seq, body FROM versions WHERE kind = ? AND account = ? AND ${id} > ? AND next_seq > ? AND seq <= ?
       AND change <> 'deleted'${sql} ORDER BY ${id} LIMIT ?`,
      kind.name,
      account,
      page.afterId ?? "",
      snapshot,
      snapshot,
      ...values,
      page.limit ?? -1,
    );
    return rows.map((row) => readBody(kind, row));
  }

  /** Which of the ids are there, without reading the resources. */
  existing(kind: ResourceKind, account: string, ids: readonly string[], exceptState: string): ReadonlySet<string> {
    const rows = this.#database.all(
      `SELECT id FROM versions WHERE kind = ? AND account = ? AND id IN (SELECT value FROM json_each(?)) AND next_seq = ${current}
       AND change <> 'deleted' AND state <> ?`,
      kind,
      account,
      JSON.stringify(ids),
      exceptState,
    );
    return new Set(rows.map((row) => textOf(row, "id")));
  }

  count(kind: ResourceKind, account: string, exceptState?: string): number {
    const row = this.#database.get(
      `SELECT count(*) AS count FROM versions WHERE kind = ? AND account = ? AND next_seq = ${current} AND change <> 'deleted' AND state <> ?`,
      kind,
      account,
      // No resource has this state.
      exceptState ?? "-",
    );
    return row ? integerOf(row, "count") : 0;
  }

  /**
   * Writes a new version.
   * @param dueMs when the scheduler has to look at the resource next
   */
  put<T extends Stored>(kind: Kind<T>, account: string, resource: T, dueMs?: number): Versioned<T> {
    const change = this.get(kind, account, resource.id) ? "updated" : "created";
    const revision = this.#append(kind.name, account, resource, change, dueMs, JSON.stringify(resource));
    return { ...resource, revision };
  }

  /** @param resource its last version, for the change feed */
  delete<T extends Stored>(kind: Kind<T>, account: string, resource: T): void {
    this.#append(kind.name, account, resource, "deleted", undefined, JSON.stringify(resource));
  }

  /** When the scheduler looks at the resource next. */
  dueOf<T extends Stored>(kind: Kind<T>, account: string, id: string): number | undefined {
    const row = this.#database.get(
      `SELECT due_ms FROM versions WHERE kind = ? AND account = ? AND id = ? AND next_seq = ${current}`,
      kind.name,
      account,
      id,
    );
    const dueMs = row?.["due_ms"];
    return typeof dueMs === "number" ? dueMs : undefined;
  }

  /** Changes only when the scheduler looks next: no new version. */
  setDue<T extends Stored>(kind: Kind<T>, account: string, id: string, dueMs: number | undefined): void {
    this.#database.run(
      `UPDATE versions SET due_ms = ? WHERE kind = ? AND account = ? AND id = ? AND next_seq = ${current}`,
      dueMs ?? null,
      kind.name,
      account,
      id,
    );
    this.#onChange();
  }

  /** What is due, oldest first. */
  due(nowMs: number): { readonly kind: string; readonly account: string; readonly id: string }[] {
    const rows = this.#database.all(
      `SELECT kind, account, id FROM versions WHERE due_ms <= ? AND next_seq = ${current} ORDER BY due_ms, seq`,
      nowMs,
    );
    return rows.map((row) => ({ kind: textOf(row, "kind"), account: textOf(row, "account"), id: textOf(row, "id") }));
  }

  /** When the scheduler has to look next. */
  nextDueMs(): number | undefined {
    const row = this.#database.get(
      `SELECT due_ms FROM versions WHERE due_ms IS NOT NULL AND next_seq = ${current} ORDER BY due_ms LIMIT 1`,
    );
    return row && integerOf(row, "due_ms");
  }

  /** Everything of one kind in all accounts, in the order of ids. */
  everywhere<T extends Stored>(kind: Kind<T>): { readonly account: string; readonly resource: Versioned<T> }[] {
    const rows = this.#database.all(
      `SELECT seq, account, body FROM versions WHERE kind = ? AND next_seq = ${current} AND change <> 'deleted' ORDER BY id`,
      kind.name,
    );
    return rows.map((row) => ({ account: textOf(row, "account"), resource: readBody(kind, row) }));
  }

  /** Changes of an account after a snapshot, oldest first. */
  changes(account: string, after: number, kinds: readonly ResourceKind[], limit: number): Change[] {
    const kindSql = kinds.length === 0 ? "" : ` AND kind IN (${kinds.map(() => "?").join(", ")})`;
    const rows = this.#database.all(
      `SELECT seq, time_ms, kind, id, change, body FROM versions WHERE seq > ? AND account = ?${kindSql} ORDER BY seq LIMIT ?`,
      after,
      account,
      ...kinds,
      limit,
    );
    return rows.map((row) => ({
      seq: integerOf(row, "seq"),
      timeMs: integerOf(row, "time_ms"),
      kind: textOf(row, "kind"),
      id: textOf(row, "id"),
      change: textOf(row, "change"),
      body: textOf(row, "body"),
    }));
  }

  /** The oldest snapshot that can still be shown. */
  floor(): number {
    const row = this.#database.get("SELECT value FROM meta WHERE key = 'floor'");
    return row ? Number(textOf(row, "value")) : 0;
  }

  /** Forgets the versions that were superseded before then. */
  prune(beforeMs: number): void {
    const floor = this.snapshotAt(beforeMs);
    if (floor <= this.floor()) return;
    this.#database.transaction(() => {
      this.#database.run(`DELETE FROM versions WHERE next_seq <= ? AND next_seq <> ${current}`, floor);
      this.#database.run("DELETE FROM versions WHERE change = 'deleted' AND seq <= ?", floor);
      this.#database.run(
        "INSERT INTO meta (key, value) VALUES ('floor', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1",
        String(floor),
      );
    });
  }

  #append(
    kind: string,
    account: string,
    resource: Stored,
    change: string,
    dueMs: number | undefined,
    body: string,
  ): number {
    return this.#database.transaction(() => {
      const seq = this.#database.insert(
        `INSERT INTO versions (next_seq, kind, account, id, name, zone, state, change, time_ms, due_ms, body)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        current,
        kind,
        account,
        resource.id,
        resource.name,
        resource.zone ?? "",
        resource.state ?? "",
        change,
        this.#now(),
        dueMs ?? null,
        body,
      );
      this.#database.run(
        `UPDATE versions SET next_seq = ?, due_ms = NULL WHERE kind = ? AND account = ? AND id = ? AND next_seq = ${current} AND seq < ?`,
        seq,
        kind,
        account,
        resource.id,
        seq,
      );
      this.#onChange();
      return seq;
    });
  }
}

const readBody = <T extends Stored>(kind: Kind<T>, row: Row): Versioned<T> => {
  const body: unknown = JSON.parse(textOf(row, "body"));
  if (!kind.check(body))
    throw new Error(`state file: version ${integerOf(row, "seq")} is not a ${kind.name} of this release`);
  return { ...body, revision: integerOf(row, "seq") };
};

const filterSql = (filter: ListFilter): { readonly sql: string; readonly values: SQLInputValue[] } => {
  const values: SQLInputValue[] = [];
  let sql = "";
  const oneOf = (column: string, wanted: readonly string[] | undefined): void => {
    if (!wanted) return;
    // One parameter whatever the length, so that one prepared statement serves every batch size.
    sql += ` AND ${column} IN (SELECT value FROM json_each(?))`;
    values.push(JSON.stringify(wanted));
  };
  oneOf("id", filter.ids);
  oneOf("name", filter.names);
  oneOf("zone", filter.zones);
  oneOf("state", filter.states);
  for (const [key, value] of filter.tags ?? []) {
    sql += " AND json_extract(body, ?) = ?";
    values.push(`$.tags."${key}"`, value);
  }
  return { sql, values };
};
