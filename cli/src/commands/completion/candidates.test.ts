import { describe, expect, test } from "vitest";
import type { Call, Command } from "../command.ts";
import { COMMANDS } from "../commands.ts";
import { candidates, completionLines } from "./candidates.ts";

/** Commands offline: of objects only what needs no cluster. */
const offer = async (line: string) => candidates(line.split(" "), COMMANDS, () => undefined);

describe("candidates()", () => {
  test.each([
    ["appr", ["approve"]],
    ["approve ", ["node-deletion"]],
    ["--context dev appr", ["approve"]],
    ["-o json sta", ["status", "status-page"]],
    ["completion z", []],
    ["plan --outp", ["--output"]],
    ["plan -o ", ["text", "json", "yaml"]],
    ["plan -o y", ["yaml"]],
    ["plan --output=j", ["--output=json"]],
    ["plan --color=n", ["--color=never"]],
    ["version --watc", []],
    ["plan --context ", []],
    ["nonsense ", []],
  ])("of %j are %j", async (line, words) => {
    expect(await offer(line)).toMatchObject({ words, paths: "none" });
  });

  test("of the first word are all commands", async () => {
    const names = COMMANDS.filter(({ isHidden }) => isHidden !== true).map(({ name }) => name.split(" ")[0]);
    expect((await offer("")).words).toEqual([...new Set([...names, "help"])]);
  });

  test.each([
    ["status --kubeconfig ", "files"],
    ["status --kubeconfig=/et", "files"],
  ])("of %j are files", async (line, paths) => {
    expect(await offer(line)).toEqual({ words: [], paths, goesOn: false });
  });

  test("of operands the command says, which gets what stands before", async () => {
    const asked: unknown[] = [];
    const command: Command = {
      name: "ask",
      summary: "",
      operands: "",
      about: [],
      options: {},
      examples: [],
      complete: async (_call, before, current) => {
        asked.push([before, current]);
        return ["node/", "node-1", "other"];
      },
      run: async () => 0,
    };
    const call: Call = Object.create(null);
    expect(await candidates(["ask", "one", "no"], [command], () => call)).toEqual({
      words: ["node/", "node-1"],
      paths: "none",
      goesOn: true,
    });
    expect(asked).toEqual([[["one"], "no"]]);
  });
});

test.each([
  [{ words: ["a", "b"], paths: "none", goesOn: false } as const, "a\nb\n:4\n"],
  [{ words: ["node/"], paths: "none", goesOn: true } as const, "node/\n:6\n"],
  [{ words: [], paths: "files", goesOn: false } as const, ":0\n"],
  [{ words: [], paths: "directories", goesOn: false } as const, ":16\n"],
])("completionLines(%j) says it as kubectl's plug-ins do", (found, lines) => {
  expect(completionLines(found)).toBe(lines);
});
