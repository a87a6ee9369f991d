import type { ReceivedFacts } from "../convert/methods.ts";
import type { Listing } from "../model/client.ts";
import { hasReason, type ProviderError } from "../model/errors.ts";

export interface Page<Item> extends Listing<Item> {
  readonly received: ReceivedFacts;
  readonly nextPageToken: string;
  /** Why the page must be ignored. */
  readonly problem: ProviderError | undefined;
}

/** Limits of a list with all its pages (proto/README.md LST-6). They end an endless list before it fills the memory of all providers. */
const MAX_PAGES = 1000;
const MAX_ITEMS = 100_000;
/** With {@link ReceivedFacts.sizeBytes}: 15,000 instances of 3 KiB. */
const MAX_LIST_BYTES = 48 * 1024 * 1024;

/** Reads all pages; restarts once when a page token is rejected. `broken` makes the error of a list that exceeds its limits. */
export async function walkPages<Item>(
  broken: (description: string) => ProviderError,
  page: (token: string) => Promise<Page<Item>>,
): Promise<Listing<Item>> {
  try {
    return await walkOnce(broken, page);
  } catch (error) {
    if (!hasReason(error, "PAGE_TOKEN_INVALID")) throw error;
    return walkOnce(broken, page);
  }
}

async function walkOnce<Item>(
  broken: (description: string) => ProviderError,
  page: (token: string) => Promise<Page<Item>>,
): Promise<Listing<Item>> {
  const pages: Page<Item>[] = [];
  const tokens = new Set<string>();
  let [items, bytes] = [0, 0];
  for (let token = ""; pages.length < MAX_PAGES; ) {
    const read = await page(token);
    if (read.problem !== undefined) throw read.problem;
    pages.push(read);
    token = read.nextPageToken;
    if (token === "") return joined(pages, read);
    if (tokens.has(token)) throw broken("a page token repeats");
    tokens.add(token);
    items += read.items.length;
    bytes += read.received.sizeBytes;
    if (items > MAX_ITEMS) throw broken(`has more than ${MAX_ITEMS} items`);
    if (bytes > MAX_LIST_BYTES) throw broken(`takes more than ${MAX_LIST_BYTES} bytes of memory`);
  }
  throw broken(`has more than ${MAX_PAGES} pages`);
}

function joined<Item>(pages: readonly Page<Item>[], last: Page<Item>): Listing<Item> {
  const unreachable = [...new Set(pages.flatMap((page) => page.unreachable))];
  return {
    items: pages.flatMap((page) => page.items),
    complete: last.complete && unreachable.length === 0 && !pages.some(({ received }) => received.isPartial),
    unreachable,
    resumeToken: last.resumeToken,
  };
}
