import { describe, expect, test } from "vitest";
import { brokenLinks } from "./links.ts";
import { parsePage } from "./markdown.ts";

const page = (...lines: readonly string[]) => parsePage(lines.join("\n"));

describe("brokenLinks()", () => {
  const pages = new Map([
    [
      "README.md",
      page("# Top", "[a](docs/a.md#part)", "[web](https://example.com/x)", "[self](#top)", "[directory](docs)"),
    ],
    ["docs/a.md", page("## Part", "[back](../README.md)")],
  ]);
  const exists = (path: string): boolean => ["README.md", "docs", "docs/a.md"].includes(path);

  test("accepts pages, headings, directories and addresses outside", () => {
    expect(brokenLinks(pages, exists)).toEqual([]);
  });

  test.each([
    ["a missing file", "gone.md", "docs/b.md:1 links to gone.md: there is no docs/gone.md"],
    ["a missing heading", "a.md#gone", 'docs/b.md:1 links to a.md#gone: docs/a.md has no heading "#gone"'],
    ["a missing heading of its own", "#gone", 'docs/b.md:1 links to #gone: docs/b.md has no heading "#gone"'],
    ["a path from the root", "/docs/a.md", "docs/b.md:1 links to /docs/a.md: write it relative to the page"],
    ["a path out of the tree", "../../x.md", "docs/b.md:1 links to ../../x.md: there is no ../x.md"],
  ])("refuses %s", (_sentence, target, message) => {
    const all = new Map([...pages, ["docs/b.md", page(`[x](${target})`)] as const]);
    expect(brokenLinks(all, (path) => path === "docs/b.md" || exists(path))).toEqual([message]);
  });
});
