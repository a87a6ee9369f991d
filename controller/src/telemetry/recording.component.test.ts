import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { Metrics } from "./metrics.ts";
import { openRecording, type RecordingOpening } from "./recording.ts";

const CLOSE_MS = 3000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "recording-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(recordProvider: string): RecordingOpening {
  const provider = [{ name: "acme", address: "unix:///run/acme.sock" }];
  const options = { recordProvider, recordProviderMaxsize: 1, provider };
  const telemetry = { metrics: new Metrics(), clock: new FakeClock(), log: new FakeLog() };
  return openRecording({ options, program: "controller 1", ...telemetry });
}

describe("openRecording()", () => {
  test("opens nothing unless a file is named", () => {
    expect(open("")).toEqual({ kind: "off", recording: undefined });
  });

  test("begins a file with where it is from", async () => {
    const path = join(folder, "provider.rec");
    const opening = open(path);
    expect(opening.kind).toBe("open");
    if (opening.kind === "open") await opening.recording.close(CLOSE_MS);
    const [head = ""] = readFileSync(path, "utf8").split("\n");
    expect(JSON.parse(head)).toMatchObject({
      kind: "head",
      program: "controller 1",
      providers: [{ name: "acme", address: "unix:///run/acme.sock" }],
    });
  });

  test.each([
    ["-", "--record-provider: must be a file, not standard output"],
    ["/none/provider.rec", "--record-provider: /none/provider.rec: cannot be opened for writing: ENOENT"],
  ])("says what is wrong with %s", (path, problem) => {
    expect(open(path)).toEqual({ kind: "failed", problem: expect.stringContaining(problem) });
  });
});
