import { describe, expect, test } from "vitest";
import { readKubernetesFile, readYaml } from "./text-file.ts";

const KIND = { kind: "Thing", group: "example.com", fields: new Set(["a"]) };

test.each([
  ["a mistake", "kind: Thing\na: [hunter2\n", "line 3: Flow sequence in block collection must be"],
  ["an alias without an anchor", "kind: Thing\na: *hunter2\n", "has an alias (*) without an anchor"],
])("readKubernetesFile() does not quote a file with %s", (_what, text, problem) => {
  const reading = readKubernetesFile(text, KIND);
  expect(reading.problems[0]).toContain(problem);
  expect(JSON.stringify(reading)).not.toContain("hunter2");
});

describe("yaml text", () => {
  test("readYaml() reads YAML and ignores unknown tags", () => {
    const reading = readYaml("a: !mine 1\n");
    expect(reading).toMatchObject({ kind: "document" });
    expect(reading.kind === "document" ? reading.document.toJS() : undefined).toEqual({ a: "1" });
  });

  test.each([
    ["a mistake", "a: [hunter2", 1],
    ["a second colon", "a: b\npassword: hunter2: hunter2\n", 2],
    ["text that should not be there", "a: 'x' hunter2\n", 1],
    ["text after a collection", "a: [x] hunter2\n", 1],
    ["a text block with something after its sign", "a: |hunter2\n  x\n", 1],
    ["a directive that there is not", "%hunter2 x\na: b\n", 2],
    ["a tag without handle", "a: !hunter2!x 1\n", 1],
    ["an escape that there is not", 'a: "\\hunter2"\n', 1],
    ["a key twice", "hunter2: 1\nhunter2: 2\n", 2],
    ["an end too many", "a: b\n}hunter2\n", 2],
    ["a second document", "a: b\n---\nhunter2\n", 2],
  ])("readYaml() names the line of %s without quoting it", (_what, text, line) => {
    const reading = readYaml(text);
    expect(reading).toMatchObject({ kind: "malformed" });
    const mistakes = reading.kind === "malformed" ? reading.mistakes : [];
    expect(mistakes[0]).toEqual({ line, what: expect.stringMatching(/^[^\n]+$/) });
    expect(JSON.stringify(mistakes)).not.toContain("hunter2");
  });
});
