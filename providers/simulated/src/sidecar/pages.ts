import type { Unreachable } from "../api/common.ts";
import type { CloudClient } from "../client/cloud-client.ts";
import type { CloudAccess, CallScope } from "./cloud-access.ts";
import { endProblem, type Evidence } from "./evidence.ts";

export interface Page<Item> extends Evidence {
  readonly account: string;
  readonly items: readonly Item[];
  readonly nextPageToken?: string;
  readonly complete?: boolean;
  readonly snapshot: string;
  readonly unreachable: Unreachable;
}

export type ReadPage<P> = (client: CloudClient, pageToken: string | undefined, signal: AbortSignal) => Promise<P>;

/**
 * Page after page of a list. Throws if the list ends without its end: a page that was emptied or cut on the way has
 * neither a next page nor the word that it is complete. Zones that could not be reached are the caller's to look at.
 */
export async function* readAll<Item, P extends Page<Item>>(
  cloud: CloudAccess,
  callScope: CallScope,
  read: ReadPage<P>,
): AsyncGenerator<P> {
  let pageToken: string | undefined;
  do {
    const token = pageToken;
    const page = await cloud.ask(callScope, async (client, signal) => read(client, token, signal));
    cloud.requireOwn(page);
    pageToken = page.nextPageToken;
    if (pageToken === undefined && page.unreachable.zones.length === 0) {
      const problem = endProblem(page);
      if (problem) throw problem;
    }
    yield page;
  } while (pageToken !== undefined);
}

/** All items of a list at once. Throws also when something could not be reached. */
export async function collect<Item, P extends Page<Item>>(
  cloud: CloudAccess,
  callScope: CallScope,
  read: ReadPage<P>,
): Promise<P["items"][number][]> {
  const items: P["items"][number][] = [];
  for await (const page of readAll<Item, P>(cloud, callScope, read)) {
    const problem = page.unreachable.zones.length > 0 ? endProblem(page) : undefined;
    if (problem) throw problem;
    items.push(...page.items);
  }
  return items;
}
