import { expect, test } from "vitest";
import { formatLongRuns, longRun, parseLongRuns } from "./long-runs.ts";

const counts = { passed: 40, failed: 1, skipped: 2, remarks: ["FAILED x"] };
const soak = longRun("soak", "5f3353f0a1", new Date("2026-11-28T23:59:00Z"), counts);

test("formatLongRuns() says when each suite last ran, on what and with which result, and which never has", () => {
  expect(formatLongRuns(["openstack", "soak"], [soak])).toEqual([
    "openstack  no run is recorded",
    "soak       2026-11-28 at commit 5f3353f0a1: 40 passed, 1 failed, 2 skipped",
  ]);
});

test("parseLongRuns() reads what was recorded", () => {
  expect(parseLongRuns(JSON.stringify([soak]))).toEqual([soak]);
});

test.each([["{}"], ['[{ "suite": "soak" }]'], [JSON.stringify([{ ...soak, passed: "40" }])]])(
  "parseLongRuns() refuses %s",
  (text) => {
    expect(() => parseLongRuns(text)).toThrow("test/long-runs.json is not what npm run test:long writes");
  },
);
