import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LogLevel, createLogger, redactText } from "./log.ts";

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
          stack: expect.stringContaining("log.test.ts"),
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

describe("redact", () => {
  // Put together here, so that no scanner of repositories takes them for real.
  const pem = (kind: string) =>
    ["-----BEGIN ", kind, "PRIVATE KEY-----\nMIIEvQ\nabc==\n-----END ", kind, "PRIVATE KEY-----"].join("");

  describe("redactText()", () => {
    test.each([
      ["a private key", pem(""), "***"],
      ["an RSA key, cut short", pem("RSA ").slice(0, 45), "***"],
      ["a bearer token", "authorization: Bearer abc.def-123", "authorization: Bearer ***"],
      ["basic credentials", "basic dXNlcjpwYXNz", "basic ***"],
      ["a web token", `t ${["eyJhbGciOi", "eyJzdWIiOi", "c2lnbmF0"].join(".")} x`, "t *** x"],
      ["an AWS key id", `id ${["AKIA", "IOSFODNN7EXAMPLE"].join("")}`, "id ***"],
      ["a Google key", `k ${"AIza" + "a".repeat(35)}`, "k ***"],
      ["a GitHub token", `k ${"ghp_" + "a".repeat(36)}`, "k ***"],
      ["a DigitalOcean token", `k ${"dop_v1_" + "a".repeat(64)}`, "k ***"],
      ["a user in a URL", "https://user:pass@host/path", "https://***@host/path"],
      ["a query", "https://host/?a=1&api_key=abcdef&b=2", "https://host/?a=1&api_key=***&b=2"],
      ["a signature", "https://host/?X-Amz-Signature=0123abcd", "https://host/?X-Amz-Signature=***"],
      ["JSON inside of a text", '{"user":"u","password":"abcdef"}', '{"user":"u","password":"***"}'],
      ["a connection string", "host=db password=abcdef port=1", "host=db password=*** port=1"],
    ])("hides %s", (_title, text, safe) => {
      expect(redactText(text)).toBe(safe);
    });

    test.each([
      "no secret was found: give it a token",
      "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
      "GET https://api.acme.example.com/machines?id=i-1: HTTP 404",
      "acme://zone-a/i-0123456789abcdef",
      "user@example.com",
      "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ])("leaves alone: %s", (text) => {
      expect(redactText(text)).toBe(text);
    });

    test("cuts what is too long, and needs no longer for what is made to be slow", () => {
      const long = redactText("password".repeat(100_000));
      expect([long.length, long.endsWith("…")]).toEqual([32_769, true]);
    });

    test("never lets a bearer token through, whatever stands around it", () => {
      const token = fc.stringMatching(/^[A-Za-z0-9._~+/-]{12,80}$/);
      fc.assert(
        fc.property(fc.string(), token, fc.string(), (before, secret, after) => {
          expect(redactText(`${before} Bearer ${secret} ${after}`)).not.toContain(` ${secret} `);
        }),
      );
    });
  });
});
