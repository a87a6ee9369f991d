import { describe, expect, test } from "vitest";
import { parsePage } from "./markdown.ts";

const page = (...lines: readonly string[]) => parsePage(lines.join("\n"));

describe("parsePage()", () => {
  test("finds inline, titled and reference links with their lines, and none in code", () => {
    const { links } = page(
      "[a](one.md)",
      'see [b](<two.md> "title")',
      "[c]: three.md",
      "`[d](four.md)`",
      "```",
      "[e](five.md)",
      "```",
    );
    expect(links).toEqual([
      { target: "one.md", line: 1 },
      { target: "two.md", line: 2 },
      { target: "three.md", line: 3 },
    ]);
  });

  test("makes anchors of headings as GitHub does", () => {
    const { anchors } = page("# The `npm start` demo: what's in it", "## Again", "## Again", '<a id="own"></a>');
    expect([...anchors]).toEqual(["the-npm-start-demo-whats-in-it", "again", "again-1", "own"]);
  });

  test("keeps a fence's words and text, and a shorter fence inside it", () => {
    expect(page("````md test x=1", "```ts", "a", "```", "````").fences).toEqual([
      { language: "md", words: ["test", "x=1"], text: "```ts\na\n```\n", line: 1 },
    ]);
  });
});
