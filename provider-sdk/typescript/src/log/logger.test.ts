import { describe, expect, test } from "vitest";
import { createLogger, type LogLevel } from "./logger.ts";

const setUp = (level: LogLevel = "debug") => {
  const lines: string[] = [];
  const log = createLogger({ level, write: (line) => lines.push(line), now: () => new Date(0) });
  return { log, records: () => lines.map((line): unknown => JSON.parse(line)) };
};

describe("createLogger()", () => {
  test("writes one JSON line with time, level, message and facts, those of its parents included", () => {
    const { log, records } = setUp();
    log.child({ method: "Ensure" }).child({ key: "k" }).info("Served", { count: 2n });
    expect(records()).toEqual([
      { time: "1970-01-01T00:00:00.000Z", level: "info", message: "Served", method: "Ensure", key: "k", count: "2" },
    ]);
  });

  test("drops lines below its level", () => {
    const { log, records } = setUp("warn");
    log.debug("a");
    log.info("b");
    log.warn("c");
    log.error("d");
    expect(records()).toMatchObject([{ message: "c" }, { message: "d" }]);
  });

  test("writes errors with stack, own facts and causes", () => {
    const { log, records } = setUp();
    const cause = Object.assign(new Error("inner"), { code: "ECONNRESET" });
    log.error("Failed", { error: new Error("outer", { cause }) });
    expect(records()).toMatchObject([
      {
        error: {
          message: "outer",
          stack: expect.stringContaining("logger.test.ts"),
          cause: { message: "inner", code: "ECONNRESET" },
        },
      },
    ]);
  });

  test("still writes a line when its facts cannot be written", () => {
    const { log, records } = setUp();
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    log.info("Odd", { loop });
    expect(records()).toMatchObject([
      { level: "info", message: "Odd", unloggable: expect.stringContaining("circular") },
    ]);
  });
});
