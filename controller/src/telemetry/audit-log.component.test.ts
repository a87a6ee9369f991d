import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { eventually } from "../../test/support/poll.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { AuditLog, auditMetrics } from "./audit-log.ts";
import { Metrics } from "./metrics.ts";

const CLOSE_MS = 3000;
const RETRY_MS = 5000;

let directory: string;
let path: string;
let clock: FakeClock;
let log: FakeLog;
let metrics: Metrics;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "audit-"));
  path = join(directory, "audit.log");
  clock = new FakeClock();
  log = new FakeLog();
  metrics = new Metrics();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function open(
  options: { readonly path?: string; readonly maxBytes?: number; readonly backups?: number } = {},
): AuditLog {
  const limits = { path, maxBytes: 0, backups: 3, ...options };
  return new AuditLog({ ...limits, metrics: auditMetrics(metrics), log, clock });
}

/** `what` of each line of a file, in order; throws where a line is not whole. */
function written(file = path): readonly unknown[] {
  const lines = readFileSync(file, "utf8").split("\n");
  expect(lines.pop()).toBe("");
  return lines.map((line): unknown => {
    const entry: { readonly what?: unknown } = JSON.parse(line);
    return entry.what;
  });
}

const lines = (result: string) => metrics.value("cloudwire_audit_lines_total", { result });
const fileSays = (part: string, file = path) =>
  eventually(`${file} says ${part}`, () => readFileSync(file, "utf8").includes(part));

/** How large files of this process may grow; who writes on meets what a full disk is, after part of what was to be written. */
function limitFiles(size: string): void {
  execFileSync("prlimit", [`--pid=${process.pid}`, `--fsize=${size}`]);
}

describe("AuditLog", () => {
  test("write() appends numbered lines to a file that only its owner can read", async () => {
    const audit = open();
    audit.write({ what: "a" });
    audit.write({ what: "b" });
    await audit.close(CLOSE_MS);
    metrics = new Metrics();
    const next = open();
    next.write({ what: "c" });
    await next.close(CLOSE_MS);
    expect(readFileSync(path, "utf8")).toBe('{"line":1,"what":"a"}\n{"line":2,"what":"b"}\n{"line":1,"what":"c"}\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await lines("written")).toBe(1);
    expect(log.lines).toEqual([]);
  });

  test("the constructor ends the half line of a killed process, so that the next line is whole", async () => {
    writeFileSync(path, '{"line":1,"what":"a"}\n{"line":2,"wh');
    const audit = open();
    audit.write({ what: "b" });
    await audit.close(CLOSE_MS);
    expect(readFileSync(path, "utf8")).toBe('{"line":1,"what":"a"}\n{"line":2,"wh\n{"line":1,"what":"b"}\n');
  });

  test.each([
    ["in a directory that is not there", () => join(directory, "none", "audit.log"), "ENOENT"],
    ["that is a directory", () => directory, "EISDIR"],
  ])("the constructor throws for a path %s", (_, wrong, code) => {
    expect(() => open({ path: wrong() })).toThrow(expect.objectContaining({ code }));
  });

  test("the constructor does not wait for a reader of a named pipe", () => {
    execFileSync("mkfifo", [path]);
    expect(() => open()).toThrow(expect.objectContaining({ code: "ENXIO" }));
  });

  test("write() rotates the file before it exceeds its size limit, and keeps the configured number of backups", async () => {
    const audit = open({ maxBytes: 130, backups: 2 });
    for (let what = 1; what <= 12; what++) {
      audit.write({ what, padding: "x".repeat(20) });
      await eventually(`line ${what} is written`, async () => (await lines("written")) === what);
    }
    await audit.close(CLOSE_MS);
    expect(readdirSync(directory).toSorted()).toEqual(["audit.log", "audit.log.1", "audit.log.2"]);
    expect([`${path}.2`, `${path}.1`, path].map((file) => written(file))).toEqual([
      [7, 8],
      [9, 10],
      [11, 12],
    ]);
  });

  test("write() goes on in the same file when rotation fails, and logs it once", async () => {
    const audit = open({ maxBytes: 50, backups: 1 });
    // A directory that is not empty blocks the rename.
    execFileSync("mkdir", ["-p", join(directory, "audit.log.1", "full")]);
    for (const what of ["a", "b", "c"]) {
      audit.write({ what, padding: "x".repeat(20) });
      await fileSays(`"${what}"`);
    }
    await audit.close(CLOSE_MS);
    expect(written()).toEqual(["a", "b", "c"]);
    expect(log.messages("error")).toEqual([expect.stringContaining("Could not rotate")]);
    expect(await metrics.value("cloudwire_audit_failures_total")).toBe(2);
  });

  test("reopen() follows the path after logrotate has moved the file", async () => {
    const audit = open();
    audit.write({ what: "before" });
    await fileSays("before");
    renameSync(path, `${path}-2026`);
    audit.write({ what: "moved" });
    await fileSays("moved", `${path}-2026`);
    audit.reopen();
    audit.write({ what: "after" });
    await audit.close(CLOSE_MS);
    expect(written(`${path}-2026`)).toEqual(["before", "moved"]);
    expect(written()).toEqual(["after"]);
  });

  test("write() never throws on a full disk: lines are queued, retried and at last dropped, each logged once", async () => {
    const audit = open({ path: "/dev/full" });
    audit.write({ what: "a" });
    await eventually("a retry is scheduled", () => clock.timers > 0);
    expect(log.messages("error")).toEqual([expect.stringContaining("Could not write the audit log")]);
    await clock.advance(RETRY_MS);
    await eventually("it is to be tried a third time", () => clock.timers > 0);
    expect(await metrics.value("cloudwire_audit_failures_total")).toBe(2);
    const padding = "x".repeat(1024 * 1024);
    for (let what = 0; what < 10; what++) audit.write({ what, padding });
    expect(await lines("dropped")).toBe(3);
    expect(log.messages("error")).toEqual([
      expect.stringContaining("Could not write the audit log"),
      expect.stringContaining("Dropping lines of the audit log"),
    ]);
    await audit.close(CLOSE_MS);
    expect(await lines("written")).toBeUndefined();
    expect(await lines("dropped")).toBe(11);
  });

  test("close() gives up after its time without a reader", async () => {
    const audit = open({ path: "/dev/full" });
    audit.write({ what: "a" });
    await audit.close(CLOSE_MS);
    expect(log.messages("error").at(-1)).toContain("unwritten lines of the audit log");
  });

  test("write() leaves no half line on a full disk, and writes all lines once there is room", async () => {
    const ignore = (): void => undefined;
    process.on("SIGXFSZ", ignore);
    const audit = open();
    try {
      limitFiles("4096:");
      for (let what = 0; what < 10; what++) audit.write({ what, padding: "x".repeat(1000) });
      await eventually("the disk is full", () => clock.timers > 0);
      expect(written().length).toBeLessThan(10);
    } finally {
      limitFiles("unlimited:");
      process.off("SIGXFSZ", ignore);
    }
    await clock.advance(RETRY_MS);
    await eventually("all is written", () => log.messages("info").length > 0);
    await audit.close(CLOSE_MS);
    expect(written()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(log.messages("error")).toHaveLength(1);
    expect(log.messages("info")).toEqual(["Writing the audit log again"]);
    expect(await lines("dropped")).toBeUndefined();
  });

  test("drop() counts a change that could not be serialized, and skips its number", async () => {
    const audit = open();
    audit.drop(new TypeError("broken"));
    audit.write({ what: "a" });
    await audit.close(CLOSE_MS);
    expect(readFileSync(path, "utf8")).toBe('{"line":2,"what":"a"}\n');
    expect(await lines("dropped")).toBe(1);
  });
});
