import { CloudError } from "../errors.ts";
import { type Database, integerOf, textOf } from "./database.ts";
import { readMeta, writeMeta } from "./meta.ts";

/** A range of positions, each given to one owner at a time. */
export interface Pool {
  readonly name: string;
  readonly first: number;
  readonly last: number;
}

/**
 * Takes the next free position, going round: a position just given back is not given out again at once.
 * Must run in a transaction.
 */
export const allocate = (database: Database, pool: Pool, owner: string): number => {
  const cursorKey = `pool/${pool.name}`;
  const start = clamp(pool, Number(readMeta(database, cursorKey) ?? pool.first));
  const position = firstFree(database, pool, start, pool.last) ?? firstFree(database, pool, pool.first, start - 1);
  if (position === undefined) {
    throw new CloudError("AddressPoolExhausted", `the pool ${pool.name} has no free address left`);
  }
  take(database, pool, position, owner);
  writeMeta(database, cursorKey, String(position + 1));
  return position;
};

/** Takes one position; answers the owner it has already, if any. */
export const reserve = (database: Database, pool: Pool, position: number, owner: string): string | undefined => {
  const row = database.get("SELECT owner FROM allocations WHERE pool = ? AND position = ?", pool.name, position);
  if (row) return textOf(row, "owner");
  take(database, pool, position, owner);
  return undefined;
};

/** Gives back all that the owner has. */
export const release = (database: Database, owner: string): void => {
  database.run("DELETE FROM allocations WHERE owner = ?", owner);
};

const take = (database: Database, pool: Pool, position: number, owner: string): void => {
  database.run("INSERT INTO allocations (pool, position, owner) VALUES (?, ?, ?)", pool.name, position, owner);
};

const clamp = (pool: Pool, position: number): number =>
  position < pool.first || position > pool.last ? pool.first : position;

/** The first gap of the range: either its start, or the position after a taken one whose successor is free. */
const firstFree = (database: Database, pool: Pool, from: number, to: number): number | undefined => {
  if (from > to) return undefined;
  const taken = database.get("SELECT 1 AS taken FROM allocations WHERE pool = ? AND position = ?", pool.name, from);
  if (!taken) return from;
  const row = database.get(
    `SELECT a.position + 1 AS position FROM allocations a
     WHERE a.pool = ?1 AND a.position >= ?2 AND a.position < ?3
       AND NOT EXISTS (SELECT 1 FROM allocations b WHERE b.pool = ?1 AND b.position = a.position + 1)
     ORDER BY a.position LIMIT 1`,
    pool.name,
    from,
    to,
  );
  return row && integerOf(row, "position");
};
