import { afterEach, expect, test } from "vitest";
import { allocate, release, reserve } from "./allocations.ts";
import { Database } from "./database.ts";

const pool = { name: "p", first: 1, last: 4 };

const open: Database[] = [];
afterEach(() => {
  for (const database of open.splice(0)) database.close();
});

function newDatabase(): Database {
  const database = new Database(":memory:");
  open.push(database);
  return database;
}

test("allocate() goes round: what was given back comes last", () => {
  const database = newDatabase();
  const take = (owner: string) => allocate(database, pool, owner);
  expect([take("a"), take("b")]).toEqual([1, 2]);
  release(database, "a");
  expect([take("c"), take("d"), take("e")]).toEqual([3, 4, 1]);
  release(database, "c");
  expect(take("f")).toBe(3);
  expect(() => take("g")).toThrow("the pool p has no free address left");
});

test("reserve() takes a position once and returns its owner", () => {
  const database = newDatabase();
  expect(reserve(database, pool, 2, "a")).toBeUndefined();
  expect(reserve(database, pool, 2, "b")).toBe("a");
  expect([allocate(database, pool, "c"), allocate(database, pool, "d")]).toEqual([1, 3]);
  release(database, "a");
  expect(reserve(database, pool, 2, "b")).toBeUndefined();
});
