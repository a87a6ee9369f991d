import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../lib/run.ts";
import { logCallsOf } from "./log-calls.ts";

const calls = globSync("controller/src/**/*.ts", { cwd: ROOT })
  // Not the loggers themselves.
  .filter((path) => !path.endsWith(".test.ts") && !path.includes("/telemetry/"))
  .flatMap((path) => logCallsOf(path, readFileSync(`${ROOT}/${path}`, "utf8")));

const places = (found: typeof calls): readonly string[] => found.map(({ path, line }) => `${path}:${line}`);

describe("logCallsOf()", () => {
  test.each([
    { text: 'log.info("Started", { version })', message: "Started", fields: ["version"] },
    { text: 'this.#deps.log.debug(4, "Asked", { "a": 1, err: error })', message: "Asked", fields: ["err"] },
    { text: 'this.#log.warn("Odd")', message: "Odd", fields: [] },
    { text: "log.error(`Odd ${name}`)", message: undefined, fields: [] },
    { text: 'context.log.error("Odd " + name)', message: undefined, fields: [] },
    { text: 'this.#deps.log[level]("Odd", { name: 1 })', message: "Odd", fields: ["name"] },
  ])("reads $text", ({ text, message, fields }) => {
    expect(logCallsOf("x.ts", text)).toMatchObject([{ line: 1, message, fields }]);
  });

  test("knows other things from loggers", () => {
    expect(logCallsOf("x.ts", "Math.log(2); console.info(text); blog.info(text); log.child({ key })")).toEqual([]);
  });
});

describe("the controller's log", () => {
  test("is looked at here", () => {
    expect(calls.length).toBeGreaterThan(100);
  });

  test("has constant messages: what varies is in fields", () => {
    expect(places(calls.filter(({ message }) => message === undefined))).toEqual([]);
  });

  test("has a row in the reference for each field that several lines have", () => {
    const fields = Map.groupBy(
      calls.flatMap((call) => call.fields),
      (field) => field,
    );
    const several = [...fields].filter(([, uses]) => uses.length > 2).map(([field]) => field);
    const page = readFileSync(`${ROOT}/docs/reference/logging.md`, "utf8");
    expect(several.filter((field) => !page.includes(`\`${field}\``))).toEqual([]);
  });

  test("has messages of one line that start with a capital letter and do not end with a period", () => {
    const isBad = (message: string): boolean => /^[^A-Z]|\n|[.\s]$/.test(message);
    expect(places(calls.filter(({ message }) => message !== undefined && isBad(message)))).toEqual([]);
  });

  test("has errors in the field err, and fields in lowerCamelCase that leave the line's own keys alone", () => {
    // A code is in `reason`, a sentence in `detail`.
    const bad = new Set(["error", "e", "level", "ts", "msg", "v", "why", "what", "how", "problem", "lost"]);
    const isBad = (field: string): boolean => bad.has(field) || !/^[a-z][A-Za-z0-9]*$/.test(field);
    expect(places(calls.filter(({ fields }) => fields.some(isBad)))).toEqual([]);
  });
});
