import { expect, test } from "vitest";
import { formatLongRuns, longRun, parseLongRuns, versionLine } from "./long-runs.ts";

const counts = { passed: 40, failed: 1, skipped: 2, remarks: ["FAILED x"] };
const soak = longRun({ suite: "soak", commit: "5f3353f0a1", now: new Date("2026-11-28T23:59:00Z") }, counts);

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

test.each([
  ["containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+b1\n", "containerd 1.6.20~ds1"],
  ["podman version 4.3.1\n", "podman 4.3.1"],
  ["runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1+deb12u1\n", "runc 1.1.5+ds1"],
  ["kubelet v1.37.2", "kubelet 1.37.2"],
  ["tool", "tool"],
])("versionLine() reads %j as %s", (output, line) => {
  expect(versionLine(output)).toBe(line);
});
