import { beforeEach, describe, expect, test } from "vitest";
import { ScopeGuard } from "./scope-guard.ts";

let guard: ScopeGuard;
beforeEach(() => {
  guard = new ScopeGuard((current) => `accept ${current}`);
});

const from = (confirmed: string, current: string) => ({ confirmed, current, remedy: `accept ${current}` });

describe("ScopeGuard with nothing written down", () => {
  test("trusts the first scope it sees", () => {
    expect(guard.change).toBeUndefined();
    guard.see("a");
    expect([guard.change, guard.confirmed]).toEqual([undefined, "a"]);
  });

  test("doubts another scope until the first one is back", () => {
    guard.see("a");
    guard.see("b");
    guard.recall("");
    expect([guard.change, guard.confirmed]).toEqual([from("a", "b"), "a"]);
    guard.see("");
    expect(guard.change).toEqual(from("a", "b"));
    guard.see("a");
    expect(guard.change).toBeUndefined();
  });
});

describe("ScopeGuard with a scope written down", () => {
  test.each([
    ["before", () => (guard.recall("a"), guard.see("b"))],
    ["after", () => (guard.see("b"), guard.recall("a"))],
  ])("doubts the first one it sees when that is another, read %s it was seen", (_, happen) => {
    happen();
    expect([guard.change, guard.confirmed]).toEqual([from("a", "b"), "a"]);
  });

  test("trusts the one that is written down", () => {
    guard.recall("a");
    guard.see("a");
    expect(guard.change).toBeUndefined();
  });

  test("trusts another as soon as that is written down", () => {
    guard.recall("a");
    guard.see("b");
    guard.recall("b");
    expect([guard.change, guard.confirmed]).toEqual([undefined, "b"]);
  });

  test("trusts whatever is when nothing is written down any more", () => {
    guard.recall("a");
    guard.see("b");
    guard.recall("");
    expect([guard.change, guard.confirmed]).toEqual([undefined, "b"]);
    guard.recall("");
    guard.see("c");
    expect(guard.change).toEqual(from("b", "c"));
  });

  test("trusts the next one that is seen when nothing is written down any more before any was", () => {
    guard.recall("a");
    guard.recall("");
    guard.see("b");
    expect([guard.change, guard.confirmed]).toEqual([undefined, "b"]);
  });

  test("stays in doubt however often the same is read", () => {
    guard.see("b");
    guard.recall("a");
    guard.see("b");
    guard.recall("a");
    expect(guard.change).toEqual(from("a", "b"));
  });
});
