import { describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { TerminalError } from "../util/errors.ts";
import { createLogger } from "./create-logger.ts";
import type { Logger } from "./log.ts";

function logTo(lines: string[], format: "json" | "text", verbosity = 0): Logger {
  const destination = { write: (line: string) => void lines.push(line) };
  return createLogger({ format, verbosity: () => verbosity, destination, clock: new FakeClock() });
}

describe("createLogger() writing JSON", () => {
  test("puts message, time, level and fields on one line", () => {
    const lines: string[] = [];
    logTo(lines, "json").child({ controller: "x" }).info("Node initialized", { key: "n1", big: 12n });
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      { level: "info", ts: "2026-11-21T12:00:00.000Z", controller: "x", key: "n1", big: "12", msg: "Node initialized" },
    ]);
  });

  test("never lets a secret through, whatever its field's case", () => {
    const lines: string[] = [];
    const nested = { users: [{ name: "u", token: "abc" }], headers: { Cookie: "abc" } };
    logTo(lines, "json").info("call", { Authorization: "Bearer abc", token: "abc", password: "abc", nested });
    expect(lines.join("")).not.toContain("abc");
  });

  test("rounds numbers to three decimals, and leaves whole ones alone", () => {
    const lines: string[] = [];
    logTo(lines, "json").info("call", {
      durationMs: 237.40868799999998,
      epoch: Number.MAX_SAFE_INTEGER,
      none: Number.NaN,
    });
    expect(JSON.parse(lines.join(""))).toMatchObject({
      durationMs: 237.409,
      epoch: Number.MAX_SAFE_INTEGER,
      none: null,
    });
  });

  test("leaves the stack off expected failures and keeps it on faults", () => {
    const lines: string[] = [];
    const log = logTo(lines, "json");
    log.error("failed", { err: new TerminalError("bad zone", { cause: new Error("no such zone") }) });
    log.error("failed", { err: new TypeError("x is not a function") });
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      expect.objectContaining({ err: { type: "TerminalError", code: "TERMINAL", message: "bad zone: no such zone" } }),
      expect.objectContaining({
        err: { type: "TypeError", message: "x is not a function", stack: expect.any(String) },
      }),
    ]);
  });
});

describe("createLogger() at a verbosity", () => {
  test.each([
    { verbosity: 0, shown: [] },
    { verbosity: 2, shown: ["two"] },
    { verbosity: 6, shown: ["two", "six"] },
  ])("shows $shown at -v=$verbosity", ({ verbosity, shown }) => {
    const lines: string[] = [];
    const log = logTo(lines, "text", verbosity);
    log.debug(2, "two");
    log.debug(6, "six");
    expect(lines.map((line) => line.trim().split(" ").at(-1))).toEqual(shown);
  });
});

describe("createLogger() writing text", () => {
  test("quotes values with spaces and shows an error's message", () => {
    const lines: string[] = [];
    logTo(lines, "text").warn("Event refused", {
      key: "default/web",
      err: new TerminalError("no such namespace"),
      n: 3,
    });
    expect(lines).toEqual(['12:00:00.000 WARN  Event refused key=default/web err="no such namespace" n=3\n']);
  });
});
