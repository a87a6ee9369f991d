import { expect, test } from "vitest";
import { RecentlySeen } from "./recently-seen.ts";

test("RecentlySeen knows for ten minutes what was seen", () => {
  let nowMs = 0;
  const seen = new RecentlySeen(() => nowMs);
  seen.see(["i-1"]);
  nowMs = 600_000;
  expect([seen.has("i-1"), seen.has("i-2")]).toEqual([true, false]);
  nowMs = 600_001;
  expect(seen.has("i-1")).toBe(false);
});
