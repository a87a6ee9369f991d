import { contractError, hasReason, type ProviderError } from "../model/errors.ts";

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextPageToken: string;
  readonly unreachable: readonly string[];
  readonly resumeToken: string;
  readonly complete: boolean;
  /** Why this page must not be believed. */
  readonly problem: ProviderError | undefined;
}

/** All pages of a list together. */
export interface Walk<Item> {
  readonly items: readonly Item[];
  readonly complete: boolean;
  readonly unreachable: readonly string[];
  readonly resumeToken: string;
}

/** Ends a walk over a provider whose list never ends: 1,000 items a page make ten million. */
const MAX_PAGES = 10_000;

/** Reads a list to its end; begins anew, one time, when a page token is refused. `what` names the list in errors. */
export async function walkPages<Item>(what: string, page: (token: string) => Promise<Page<Item>>): Promise<Walk<Item>> {
  try {
    return await walkOnce(what, page);
  } catch (error) {
    if (!hasReason(error, "PAGE_TOKEN_INVALID")) throw error;
    return walkOnce(what, page);
  }
}

async function walkOnce<Item>(what: string, page: (token: string) => Promise<Page<Item>>): Promise<Walk<Item>> {
  const pages: Page<Item>[] = [];
  const tokens = new Set<string>();
  for (let token = ""; pages.length < MAX_PAGES; ) {
    const read = await page(token);
    if (read.problem !== undefined) throw read.problem;
    pages.push(read);
    token = read.nextPageToken;
    if (token === "") return joined(pages, read);
    if (tokens.has(token)) throw contractError("INCOMPLETE_ANSWER", `${what}: a page names itself as the next one`);
    tokens.add(token);
  }
  throw contractError("INCOMPLETE_ANSWER", `${what}: no end after ${MAX_PAGES} pages`);
}

function joined<Item>(pages: readonly Page<Item>[], last: Page<Item>): Walk<Item> {
  const unreachable = [...new Set(pages.flatMap((page) => page.unreachable))];
  return {
    items: pages.flatMap((page) => page.items),
    complete: last.complete && unreachable.length === 0,
    unreachable,
    resumeToken: last.resumeToken,
  };
}
