import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  readResultsFile,
  ResultsFileError,
  type ResultsFile,
  writeResultsFile,
} from "../compare/report/results-file.ts";
import { SCENARIOS } from "../compare/scenarios/scenarios.ts";
import { pageWith } from "./page.ts";
import { plotsOf } from "./plots.ts";
import { sizingPage } from "./sizing.ts";

const PAGE = "performance.md";
/** What an operator is to give it, by the same results. */
const SIZING = "../guides/sizing.md";
/** The results of which page and plots are made, beside them. */
export const RESULTS = "performance.json";

/** Every file but the results', as they follow from these. */
export async function publishedFiles(directory: string, file: ResultsFile): Promise<ReadonlyMap<string, string>> {
  const page = await readFile(join(directory, PAGE), "utf8");
  const drawings = [...plotsOf(file.results)].map(([name, { svg }]) => [name, svg] as const);
  const sizing = await readFile(join(directory, SIZING), "utf8");
  return new Map([[PAGE, pageWith(page, SCENARIOS, file)], [SIZING, sizingPage(sizing, file.results)], ...drawings]);
}

/** Makes these results the committed ones, with tables and plots of them. */
export async function publish(path: string, directory: string): Promise<void> {
  const file = await readResultsFile(path);
  if (file === undefined) throw new ResultsFileError(`--publish: there is no ${path}; measure first, or give --out`);
  await writeResultsFile(join(directory, RESULTS), file);
  for (const [name, text] of await publishedFiles(directory, file)) await writeFile(join(directory, name), text);
}
