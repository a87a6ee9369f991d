import { readFile } from "node:fs/promises";

const PAGE = new URL("../../../../docs/explanation/differences-from-upstream.md", import.meta.url);

/** Ids of the rows of the page of differences from upstream. */
export async function documentedIds(): Promise<ReadonlySet<string>> {
  const text = await readFile(PAGE, "utf8");
  return new Set([...text.matchAll(/^\| ([A-Z]+\d+) \|/gm)].map(([, id = ""]) => id));
}
