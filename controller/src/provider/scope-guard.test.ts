import { expect, test } from "vitest";
import { ScopeGuard } from "./scope-guard.ts";

test("ScopeGuard trusts the first scope it sees", () => {
  const guard = new ScopeGuard();
  expect(guard.change).toBeUndefined();
  guard.see("a");
  expect(guard.change).toBeUndefined();
});

test("ScopeGuard doubts another scope until it is confirmed or the first one is back", () => {
  const guard = new ScopeGuard();
  guard.see("a");
  guard.see("b");
  expect(guard.change).toEqual({ confirmed: "a", current: "b" });
  guard.see("a");
  expect(guard.change).toBeUndefined();
  guard.see("b");
  expect(guard.confirm("a")).toBe(false);
  expect(guard.change).toEqual({ confirmed: "a", current: "b" });
  expect(guard.confirm("b")).toBe(true);
  expect(guard.change).toBeUndefined();
});
