import type { Listing } from "../model/client.ts";
import { contractError, hasReason, type ProviderError } from "../model/errors.ts";

export interface Page<Item> extends Listing<Item> {
  readonly nextPageToken: string;
  /** Why the page must be ignored. */
  readonly problem: ProviderError | undefined;
}

/** Ends an endless list: with 1,000 items per page this is ten million items. */
const MAX_PAGES = 10_000;

/** Reads all pages; restarts once when a page token is rejected. `what` names the list in errors. */
export async function walkPages<Item>(
  what: string,
  page: (token: string) => Promise<Page<Item>>,
): Promise<Listing<Item>> {
  try {
    return await walkOnce(what, page);
  } catch (error) {
    if (!hasReason(error, "PAGE_TOKEN_INVALID")) throw error;
    return walkOnce(what, page);
  }
}

async function walkOnce<Item>(what: string, page: (token: string) => Promise<Page<Item>>): Promise<Listing<Item>> {
  const pages: Page<Item>[] = [];
  const tokens = new Set<string>();
  for (let token = ""; pages.length < MAX_PAGES; ) {
    const read = await page(token);
    if (read.problem !== undefined) throw read.problem;
    pages.push(read);
    token = read.nextPageToken;
    if (token === "") return joined(pages, read);
    if (tokens.has(token)) throw contractError("INCOMPLETE_ANSWER", `${what}: a page token repeats`);
    tokens.add(token);
  }
  throw contractError("INCOMPLETE_ANSWER", `${what}: no end after ${MAX_PAGES} pages`);
}

function joined<Item>(pages: readonly Page<Item>[], last: Page<Item>): Listing<Item> {
  const unreachable = [...new Set(pages.flatMap((page) => page.unreachable))];
  return {
    items: pages.flatMap((page) => page.items),
    complete: last.complete && unreachable.length === 0,
    unreachable,
    resumeToken: last.resumeToken,
  };
}
