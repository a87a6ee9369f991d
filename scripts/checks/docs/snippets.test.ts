import { describe, expect, test } from "vitest";
import { parsePage } from "./markdown.ts";
import { snippetsOf } from "./snippets.ts";

const page = (...lines: readonly string[]) => parsePage(lines.join("\n"));

describe("snippetsOf()", () => {
  test("takes the blocks marked test, with the output that follows and their time limit", () => {
    const markdown = page(
      "```ts test",
      "a;",
      "```",
      "```text output",
      "b",
      "```",
      "```sh test timeout=5",
      "c",
      "```",
      "```sh",
      "d",
      "```",
    );
    expect(snippetsOf("x.md", markdown)).toEqual([
      { where: "x.md:1", language: "ts", text: "a;\n", output: "b\n", timeoutMs: 30_000 },
      { where: "x.md:7", language: "sh", text: "c\n", output: undefined, timeoutMs: 5_000 },
    ]);
  });

  test("refuses to test a language it cannot run", () => {
    expect(() => snippetsOf("x.md", page("```go test", "```"))).toThrow(
      'x.md:1: a block of language "go" cannot be tested, only ts and sh',
    );
  });
});
