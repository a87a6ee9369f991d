import { expect, test } from "vitest";
import { failingSnippets } from "./run-snippets.ts";
import type { Snippet } from "./snippets.ts";

const snippet = (fields: Partial<Snippet>): Snippet => ({
  where: "page.md:1",
  language: "sh",
  text: "",
  output: undefined,
  timeoutMs: 20_000,
  ...fields,
});

test("failingSnippets() finds nothing wrong with snippets that work", async () => {
  const good = [
    snippet({ language: "ts", text: 'const a: string = "b";\nconsole.log(a);\n', output: "b\n" }),
    snippet({ where: "page.md:9", text: "test -f package.json\necho c\n", output: "c\n" }),
  ];
  expect(await failingSnippets(good)).toEqual([]);
});

test.each([
  ["a shell command that fails in the middle", { text: "false\ntrue\n" }, /^page\.md:1: failed with exit code 1:/],
  [
    "a module that throws",
    { language: "ts", text: "throw new Error('boom');\n" } as const,
    /^page\.md:1: failed with exit code 1:\n.*boom/s,
  ],
  [
    "another output than the page says",
    { text: "echo a\n", output: "b\n" },
    /^page\.md:1: printed something else than the page says:\na$/,
  ],
  ["one that does not end", { text: "sleep 30\n", timeoutMs: 300 }, /^page\.md:1: had not ended after 0\.3 s$/],
])("failingSnippets() finds %s", async (_sentence, fields, fault) => {
  const faults = await failingSnippets([snippet(fields)]);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(fault);
});

test("failingSnippets() finds a module that runs but does not type-check", async () => {
  const faults = await failingSnippets([snippet({ language: "ts", text: "const a: string = 1;\nconsole.log(a);\n" })]);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(/^tested snippets do not type-check.*page-md-1\.ts\(1,7\): error TS2322/s);
});
