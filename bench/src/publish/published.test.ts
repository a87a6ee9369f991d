import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readResultsFile } from "../compare/report/results-file.ts";
import { pageWith } from "./page.ts";
import { publishedFiles, RESULTS } from "./publish.ts";

const directory = fileURLToPath(new URL("../../../docs/explanation", import.meta.url));

test("the committed page and plots say what the committed results say", async () => {
  const file = await readResultsFile(join(directory, RESULTS));
  const files = await publishedFiles(directory, file ?? { machine: "", results: [] });
  const names = [...files.keys()];
  const committed = await Promise.all(names.map((name) => readFile(join(directory, name), "utf8")));
  expect(new Map(names.map((name, index) => [name, committed[index]]))).toEqual(files);
});

test("pageWith() refuses a page without a mark", () => {
  expect(() => pageWith("# Nothing\n", [], { machine: "", results: [] })).toThrow(
    "the page has no part between <!-- begin machine --> and <!-- end machine -->",
  );
});
