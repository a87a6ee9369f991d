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

  test("asks for its level at each line", () => {
    let level: LogLevel = "info";
    const lines: string[] = [];
    const log = createLogger({ level: () => level, write: (line) => lines.push(line), now: () => new Date(0) });
    const child = log.child({ key: "k" });
    child.debug("a");
    level = "debug";
    child.debug("b");
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([{ message: "b" }]);
  });

  test.each([
    ["a password", { password: "hunter2" }],
    ["a header", { headers: { Authorization: "Custom hunter2" } }],
    ["a list of users", { users: [{ name: "u", api_key: "hunter2" }] }],
    ["an error's own fact", { error: Object.assign(new Error("no"), { clientSecret: "hunter2" }) }],
    ["a cause's own fact", { error: new Error("no", { cause: { "access-key": "hunter2" } }) }],
    ["a field of the vendor's", { tenantPin: "hunter2" }],
    ["a secret that is an object", { credentials: { user: "hunter2" } }],
  ])("hides %s by the name of its field", (_title, facts) => {
    const lines: string[] = [];
    const write = (line: string) => lines.push(line);
    createLogger({ level: "info", write, now: () => new Date(0), secretFields: ["tenant_pin"] }).info("Call", facts);
    expect(lines.join("")).toContain("***");
    expect(lines.join("")).not.toContain("hunter2");
  });

  test("hides what its parents bound, and what looks like a secret in messages, stacks and lines that cannot be written", () => {
    const { log, records } = setUp();
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    log.child({ token: "hunter2" }).info("Sent Authorization: Bearer hunter2hunter2", { loop });
    log.error("Failed", { error: new Error("GET https://u:hunter2@acme.example.com: 500") });
    const text = JSON.stringify(records());
    expect(text).not.toContain("hunter2");
    expect(records()).toMatchObject([
      { message: "Sent Authorization: Bearer ***" },
      { error: { message: "GET https://***@acme.example.com: 500", stack: expect.stringContaining("***@acme") } },
    ]);
  });

  test("shows that a secret was missing, and the contract's own tokens", () => {
    const { log, records } = setUp();
    log.info("Call", { password: undefined, token: null, pageToken: "p-1", resumeToken: "r-1" });
    expect(records()).toEqual([
      expect.objectContaining({ message: "Call", token: null, pageToken: "p-1", resumeToken: "r-1" }),
    ]);
  });
});
