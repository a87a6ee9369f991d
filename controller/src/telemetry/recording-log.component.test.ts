import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { eventually } from "../../test/support/poll.ts";
import { Metrics } from "./metrics.ts";
import { RecordingLog, type RecordingOpening, openRecording, recordingMetrics } from "./recording-log.ts";

const CLOSE_MS = 3000;
const MEGABYTE = 1024 * 1024;
const header = { program: "controller 1", providers: [{ name: "acme", address: "unix:///acme.sock" }] };

let directory: string;
let path: string;
let clock: FakeClock;
let log: FakeLog;
let metrics: Metrics;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "recording-"));
  path = join(directory, "provider.rec");
  clock = new FakeClock();
  log = new FakeLog();
  metrics = new Metrics();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function open(options: { readonly path?: string; readonly maxBytes?: number } = {}): RecordingLog {
  const limits = { path, maxBytes: MEGABYTE, header, ...options };
  return new RecordingLog({ ...limits, metrics: recordingMetrics(metrics), log, clock });
}

function written(): readonly Readonly<Record<string, unknown>>[] {
  const lines = readFileSync(path, "utf8").split("\n");
  expect(lines.pop()).toBe("");
  return lines.map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
}

const kinds = () => written().map(({ kind }) => kind);
const lines = (result: string) => metrics.value("cloudwire_recording_lines_total", { result });

describe("RecordingLog", () => {
  test("writes a header and a footer to a file that only its owner can read, and appends to an existing one", async () => {
    const recording = open();
    await clock.advance(1500);
    recording.write({ kind: "start", call: recording.nextCall() });
    await recording.close(CLOSE_MS);
    metrics = new Metrics();
    await open().close(CLOSE_MS);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(written()).toEqual([
      {
        line: 1,
        atMs: 0,
        time: "2026-11-21T12:00:00.000Z",
        kind: "header",
        format: "cloudwire.recording",
        version: 1,
        contract: "cloudprovider.v1",
        ...header,
      },
      { line: 2, atMs: 1500, time: "2026-11-21T12:00:01.500Z", kind: "start", call: 1 },
      { line: 3, atMs: 1500, time: "2026-11-21T12:00:01.500Z", kind: "footer" },
      expect.objectContaining({ line: 1, kind: "header" }),
      expect.objectContaining({ line: 2, kind: "footer" }),
    ]);
    expect(log.lines).toEqual([]);
  });

  test("stays below its size limit, writes that it was reached, and counts the lines that are not recorded", async () => {
    const recording = open({ maxBytes: 2000 });
    for (let call = 1; call <= 20; call++) recording.write({ kind: "start", call, padding: "x".repeat(100) });
    await recording.close(CLOSE_MS);
    expect(kinds().at(-1)).toBe("sizeLimit");
    expect(statSync(path).size).toBeLessThanOrEqual(2000);
    expect(written().map(({ line }) => line)).toEqual(written().map((_, index) => index + 1));
    // All that was written or not: 20 calls, a header, the line of kind sizeLimit, and no footer.
    expect(Number(await lines("size_limit")) + kinds().length).toBe(23);
    expect(log.messages("warn")).toEqual([expect.stringContaining("recording stopped")]);
  });

  test("drops lines when the queue is full, logs their number when it can write again, and never throws", async () => {
    const recording = open({ path: "/dev/full", maxBytes: 100 * MEGABYTE });
    const padding = "x".repeat(MEGABYTE);
    for (let call = 1; call <= 10; call++) recording.write({ kind: "start", call, padding });
    await eventually("a retry is scheduled", () => clock.timers > 0);
    expect(await lines("dropped")).toBe(3);
    expect(log.messages("error")).toContainEqual(expect.stringContaining("Dropping lines of the recording"));
    await recording.close(CLOSE_MS);
    expect(await lines("written")).toBeUndefined();
  });

  test("writes the number of dropped lines before the next line", async () => {
    const recording = open();
    recording.write({ kind: "start", call: 1 });
    recording.drop(new TypeError("broken"));
    recording.write({ kind: "start", call: 3 });
    await recording.close(CLOSE_MS);
    expect(written().map(({ line, kind, lines: missing }) => [line, kind, missing])).toEqual([
      [1, "header", undefined],
      [2, "start", undefined],
      [4, "dropped", 1],
      [5, "start", undefined],
      [6, "footer", undefined],
    ]);
    expect(await lines("dropped")).toBe(1);
  });

  test("writes that the size limit was reached once, even with dropped lines to report", async () => {
    const recording = open({ maxBytes: 700 });
    recording.write({ kind: "start", call: 1, padding: "x".repeat(100) });
    recording.drop(new TypeError("broken"));
    recording.write({ kind: "start", call: 2 });
    await recording.close(CLOSE_MS);
    expect(kinds()).toEqual(["header", "start", "sizeLimit"]);
    expect(log.messages("warn")).toHaveLength(1);
  });

  test("the constructor throws for a path that cannot be written", () => {
    expect(() => open({ path: join(directory, "none", "x") })).toThrow(expect.objectContaining({ code: "ENOENT" }));
  });
});

describe("recording", () => {
  const CLOSE_MS = 3000;

  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "recording-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  function open(recordProvider: string): RecordingOpening {
    const provider = [{ name: "acme", address: "unix:///run/acme.sock" }];
    const options = { recordProvider, recordProviderMaxsize: 1, provider };
    const telemetry = { metrics: new Metrics(), clock: new FakeClock(), log: new FakeLog() };
    return openRecording({ options, program: "controller 1", ...telemetry });
  }

  describe("openRecording()", () => {
    test("opens nothing without a path", () => {
      expect(open("")).toEqual({ kind: "off", recording: undefined });
    });

    test("starts the file with its program and providers", async () => {
      const path = join(directory, "provider.rec");
      const opening = open(path);
      expect(opening.kind).toBe("open");
      if (opening.kind === "open") await opening.recording.close(CLOSE_MS);
      const [first = ""] = readFileSync(path, "utf8").split("\n");
      expect(JSON.parse(first)).toMatchObject({
        kind: "header",
        program: "controller 1",
        providers: [{ name: "acme", address: "unix:///run/acme.sock" }],
      });
    });

    test.each([
      ["-", "--record-provider: must be a file, not standard output"],
      ["/none/provider.rec", "--record-provider: /none/provider.rec: cannot be opened for writing: ENOENT"],
    ])("names the problem of %s", (path, problem) => {
      expect(open(path)).toEqual({ kind: "failed", problem: expect.stringContaining(problem) });
    });
  });
});
