import { expect, test } from "vitest";
import { ScopeGuard } from "./scope-guard.ts";

test("ScopeGuard trusts the first scope it sees", () => {
  const guard = new ScopeGuard();
  expect(guard.change).toBeUndefined();
  guard.see("a");
  expect(guard.change).toBeUndefined();
});

test("ScopeGuard doubts another scope until the first one is back", () => {
  const guard = new ScopeGuard();
  guard.see("a");
  guard.see("b");
  expect(guard.change).toEqual({ confirmed: "a", current: "b" });
  guard.see("a");
  expect(guard.change).toBeUndefined();
});
