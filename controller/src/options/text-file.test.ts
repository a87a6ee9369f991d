import { expect, test } from "vitest";
import { readKubernetesFile } from "./text-file.ts";

const KIND = { kind: "Thing", group: "example.com", fields: new Set(["a"]) };

test.each([
  ["a mistake", "kind: Thing\na: [hunter2\n", "line 3: Flow sequence in block collection must be"],
  ["an alias of nothing", "kind: Thing\na: *hunter2\n", "has an alias (*) of something that is not there"],
])("readKubernetesFile() shows nothing of a file with %s", (_what, text, problem) => {
  const reading = readKubernetesFile(text, KIND);
  expect(reading.problems[0]).toContain(problem);
  expect(JSON.stringify(reading)).not.toContain("hunter2");
});
