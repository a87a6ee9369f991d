import { describe, expect, test } from "vitest";
import { COMMANDS } from "../commands/commands.ts";
import { COMMON_OPTIONS } from "./shared-options.ts";
import { parseCommandLine } from "./parse.ts";

const parse = (line: string) => parseCommandLine(line.split(" "), COMMANDS);

describe("parseCommandLine()", () => {
  test.each([
    ["explain node/a", "explain", ["node/a"]],
    ["explain node a", "explain", ["node", "a"]],
    ["--context dev explain -o json node/a", "explain", ["node/a"]],
    ["approve node-deletion --all=true", "approve node-deletion", []],
    ["approve --yes node-deletion a b", "approve node-deletion", ["a", "b"]],
  ])("understands %s", (line, name, operands) => {
    const parsed = parse(line);
    expect(parsed.kind === "run" && { name: parsed.command.name, operands: parsed.operands }).toEqual({
      name,
      operands,
    });
  });

  test("fills in defaults, and takes the last of what is given twice", () => {
    const parsed = parse("explain node/a -o json --output yaml --interval 1m30s");
    const { values } = parsed.kind === "run" ? parsed : { values: undefined };
    expect([
      values?.text("output"),
      values?.durationMs("interval"),
      values?.number("port"),
      values?.flag("watch"),
    ]).toEqual(["yaml", 90_000, 10258, false]);
    expect(values?.text("server")).toBeUndefined();
  });

  test.each(["-o json", "-ojson", "-o=json", "--output json", "--output=json"])(
    "reads %s as kubectl does",
    (option) => {
      const parsed = parse(`status ${option}`);
      expect(parsed.kind === "run" && parsed.values.text("output")).toBe("json");
    },
  );

  test.each([
    ["", undefined],
    ["--help", undefined],
    ["help", undefined],
    ["help explain", "explain"],
    ["explain --help", "explain"],
    ["help approve node-deletion", "approve node-deletion"],
  ])("explains %j", (line, name) => {
    const parsed = parseCommandLine(line === "" ? [] : line.split(" "), COMMANDS);
    expect([parsed.kind, parsed.kind === "help" ? parsed.command?.name : parsed]).toEqual(["help", name]);
  });

  test.each([
    ["expain node/a", [expect.stringContaining("did you mean explain?")]],
    ["approve", ["incomplete command approve; use approve node-deletion"]],
    ["version --watch", ["version: unknown option --watch"]],
    ["explain a --wach", ["explain: unknown option --wach; did you mean --watch?"]],
    ["explain a --context --watch", ["--context requires a value: name"]],
    ["explain a --context", ["--context requires a value: name"]],
    ["explain a --kubeconfig=", ["--kubeconfig must not be empty"]],
    ["status --watch=maybe", ["--watch must be true or false, not maybe"]],
    [
      "explain a -o xml --port 0 --interval 5",
      [
        "-o must be one of text, json, yaml, not xml",
        "--port must be a whole number above 0, not 0",
        "--interval must be a duration such as 500ms, 2s or 1m30s, and at most 24h, not 5",
      ],
    ],
    ["status-page --local-port 65536", ["--local-port must be a whole number of at most 65535, not 65536"]],
    [
      "status --interval 1000h",
      ["--interval must be a duration such as 500ms, 2s or 1m30s, and at most 24h, not 1000h"],
    ],
    ["version --constructor=x", ["version: unknown option --constructor"]],
    ["--constructor", ["unknown option --constructor"]],
    ["--verbose", ["unknown option --verbose"]],
    ["-v --context dev", ["unknown option -v"]],
  ])("says all that is wrong with %s", (line, problems) => {
    expect(parse(line)).toMatchObject({ kind: "invalid", problems });
  });

  test("takes --version for the command", () => {
    expect(parse("--version")).toMatchObject({ kind: "run", command: { name: "version" } });
  });
});

test("an option of one name has one type and one letter in all commands, and letters mean one option", () => {
  const all = [...COMMANDS.flatMap(({ options }) => Object.entries(options)), ...Object.entries(COMMON_OPTIONS)];
  const shapes = new Map(all.map(([name, { type, letter }]) => [`${name} ${type} ${letter ?? ""}`, name]));
  expect(shapes.size).toBe(new Set(shapes.values()).size);
  const letters = new Map(all.flatMap(([name, { letter }]) => (letter === undefined ? [] : [[name, letter]])));
  expect(new Set(letters.values()).size).toBe(letters.size);
});
