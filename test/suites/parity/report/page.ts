import { readFile } from "node:fs/promises";

const PAGE = new URL("../../../../docs/explanation/differences-from-upstream.md", import.meta.url);

/** The table of versions of upstream: `rows | versions` of each line. */
export async function documentedVersions(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(PAGE, "utf8");
  const [, table = ""] = text.split(/^\| rows \| versions of upstream \|\n\| --- \| --- \|\n/m);
  const lines = (table.split("\n\n")[0] ?? "").matchAll(/^\| (.+) \| (.+) \|$/gm);
  return new Map([...lines].map(([, rows = "", versions = ""]) => [rows, versions]));
}

/** Ids of the rows of the page of differences from upstream. */
export async function documentedIds(): Promise<ReadonlySet<string>> {
  const text = await readFile(PAGE, "utf8");
  return new Set([...text.matchAll(/^\| ([A-Z]+\d+) \|/gm)].map(([, id = ""]) => id));
}
