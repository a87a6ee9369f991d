import { describe, expect, test } from "vitest";
import { recordingText, written } from "../../test/recordings.ts";
import { readRecording } from "./recording.ts";

const head = { kind: "header", format: "cloudwire.recording", version: 1, program: "test" };
const begin = (provider: string, call = 1) => ({
  kind: "start",
  call,
  provider,
  method: "GetProviderInfo",
  request: {},
});

describe("readRecording()", () => {
  test("gives calls with their ends, and the order in which they began and ended", () => {
    const calls = [{ method: "GetProviderInfo" }, { method: "ListRoutes", code: "UNAVAILABLE" }];
    const { calls: read, events, warnings } = readRecording("f", recordingText(calls, ["b1", "b2", "e2", "e1"]));
    expect(read.map(({ call, method, line, end }) => [call, method, line, end?.code])).toEqual([
      [1, "GetProviderInfo", 2, "OK"],
      [2, "ListRoutes", 3, "UNAVAILABLE"],
    ]);
    expect(events.map(({ kind, call }) => `${kind} ${call.call}`)).toEqual(["start 1", "start 2", "end 2", "end 1"]);
    expect(warnings).toEqual([]);
  });

  test("warns of dropped lines, the size limit, lossy responses, and a process that did not shut down cleanly", () => {
    const lost = written([head, begin("acme"), { kind: "dropped", lines: 3 }, { kind: "sizeLimit" }]);
    expect(readRecording("f", lost).warnings).toEqual([
      "the recording lacks 3 dropped lines",
      "the recording ends where it reached --record-provider-maxsize",
    ]);
    const inexact = { kind: "end", call: 1, provider: "acme", method: "GetProviderInfo", code: "OK", lossy: true };
    expect(readRecording("f", written([head, begin("acme"), inexact, { kind: "footer" }])).warnings).toEqual([
      expect.stringContaining("1 responses are lossy"),
    ]);
    expect(readRecording("f", `${written([head, begin("acme")])}{"line":3,"ki`).warnings).toEqual([
      "the recording has no footer: its process is still running or did not shut down cleanly",
    ]);
  });

  test("takes the last of several recordings, or the one that is wanted", () => {
    const text = written([
      head,
      begin("acme"),
      { kind: "footer" },
      head,
      begin("acme"),
      begin("acme", 2),
      { kind: "footer" },
    ]);
    expect(readRecording("f", text).calls).toHaveLength(2);
    expect(readRecording("f", text).warnings).toEqual(["f has 2 sessions; using session 2 (--session)"]);
    expect(readRecording("f", text, { session: 1 }).calls).toHaveLength(1);
    expect(() => readRecording("f", text, { session: 3 })).toThrow("f has 2 sessions, and no session 3");
  });

  test("takes the calls of one provider, and asks which where there are several", () => {
    const text = written([head, begin("acme"), begin("other", 2), { kind: "footer" }]);
    expect(readRecording("f", text, { provider: "other" }).calls.map(({ call }) => call)).toEqual([2]);
    expect(() => readRecording("f", text)).toThrow("select one of acme, other with --provider");
    expect(() => readRecording("f", text, { provider: "third" })).toThrow(
      "f has no calls of provider third; its providers: acme, other",
    );
  });

  test.each([
    ["an empty file", "", "f is empty"],
    ["a file of something else", "{}\n", "f is not a recording"],
    ["a line that is no JSON", `${written([head])}hello\n`, "f, line 2: not a JSON object"],
    ["a newer format", written([{ ...head, version: 2 }]), "f has format version 2, and this program supports 1"],
    ["an RPC that is none", written([head, { ...begin("acme"), method: "Explode" }]), "line 2: unknown method Explode"],
    ["nothing but a head", written([head]), "f has no calls"],
  ])("refuses %s", (_, text, message) => {
    expect(() => readRecording("f", text)).toThrow(message);
  });
});
