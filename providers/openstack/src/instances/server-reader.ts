import { chunksOf, inParallel, SharedRead, type TimedRead } from "@cloudwire/provider-sdk";
import { isStatus } from "../cloud/errors.ts";
import type { CallScope } from "../cloud/keystone.ts";
import type { OpenStack } from "../cloud/openstack.ts";
import { hasNext, readAll, readPages } from "../cloud/pages.ts";
import { type Server, serverAnswerSchema, serverIdsSchema, serverListSchema } from "./server.ts";

/** Most servers of one page, Nova's own default limit. */
const pageSize = 1000;

/** Names of one request: it is a pattern in a URL, and proxies cut those at 8 KiB. */
const namesPerRequest = 25;

/** Nova's database fails at a pattern with characters beyond 16 bits. */
const searchable = /^[\x20-\x7e]*$/;

/** Maximum concurrent requests for single servers. */
const concurrency = 8;

interface AllServers {
  /** False: those of a cell that does not answer may be missing, for they are on no page but the first. */
  readonly isComplete: boolean;
  readonly servers: readonly Server[];
}

/** All servers of the project at one time. */
export type Walk = TimedRead<AllServers>;

/** Servers by their ids, and ids that have none. */
export interface LookedUp {
  readonly servers: readonly Server[];
  readonly missing: ReadonlySet<string>;
}

/** Reads servers of the project. */
export class ServerReader {
  readonly #openStack: OpenStack;
  readonly #walks: SharedRead<AllServers, CallScope>;
  /** As last read; one that was never read is taken to have 2,000 servers at most. */
  #pagesOfProject = 2;

  constructor(openStack: OpenStack, nowMs: () => number) {
    this.#openStack = openStack;
    this.#walks = new SharedRead((callScope) => this.#readAll(callScope), nowMs);
  }

  /** The cheapest question that proves that Nova answers. */
  async check(callScope: CallScope): Promise<void> {
    await this.#openStack.get(callScope, "compute", "/servers", serverIdsSchema, { limit: 1 });
  }

  /** One by one: only administrators can request several IDs, and only this request reports which do not exist. */
  async byIds(ids: readonly string[], callScope: CallScope): Promise<LookedUp> {
    const missing = new Set<string>();
    const servers = await inParallel([...new Set(ids)], concurrency, async (id) => {
      try {
        return [(await this.#openStack.get(callScope, "compute", `/servers/${id}`, serverAnswerSchema)).server];
      } catch (error) {
        // Nova knows every server of the project in every cell, so a response about one server is conclusive.
        if (!isStatus(error, 404)) throw error;
        missing.add(id);
        return [];
      }
    });
    return { servers: servers.flat(), missing };
  }

  /** Servers that have one of the names, where Nova can be asked for it; those of cells that do not answer are not among them. */
  async byNames(names: readonly string[], callScope: CallScope): Promise<readonly Server[]> {
    const asked = [...new Set(names)].filter((name) => searchable.test(name));
    const chunks = chunksOf(asked, namesPerRequest);
    const found = await inParallel(chunks, concurrency, (chunk) => readAll(this.#page(callScope, namePattern(chunk))));
    return found.flat();
  }

  /** All servers, page by page as they are asked for. */
  pages(callScope: CallScope): AsyncGenerator<readonly Server[]> {
    return readPages(this.#page(callScope));
  }

  /** All servers of the project, if that costs less than so many requests. Undefined: it does not. */
  async walkInstead(requests: number, maxAgeMs: number, callScope: CallScope): Promise<Walk | undefined> {
    return this.#walks.getIfCheaper(
      { savedRequests: requests, neededRequests: this.#pagesOfProject, maxAgeMs },
      callScope,
    );
  }

  /** All servers of a read that began at most `maxAgeMs` ago. Concurrent callers share one read. */
  async walk(maxAgeMs: number, callScope: CallScope): Promise<Walk> {
    return this.#walks.get(maxAgeMs, callScope);
  }

  async #readAll(callScope: CallScope): Promise<AllServers> {
    const servers = new Map<string, Server>();
    let pages = 0;
    for await (const page of this.pages(callScope)) {
      for (const server of page) servers.set(server.id, server);
      pages += 1;
    }
    this.#pagesOfProject = pages;
    return { servers: [...servers.values()], isComplete: pages === 1 };
  }

  #page(callScope: CallScope, name?: string) {
    return async (marker: string | undefined) => {
      // Only without parameters does Nova also return the servers of unresponsive cells.
      const query = marker === undefined && name === undefined ? {} : { limit: pageSize, marker, name };
      const { servers, servers_links: links } = await this.#openStack.get(
        callScope,
        "compute",
        "/servers/detail",
        serverListSchema,
        query,
      );
      return { items: servers, hasNext: hasNext(links) };
    };
  }
}

/** Nova takes a name for a regular expression of its database. */
function namePattern(names: readonly string[]): string {
  return `^(${names.map((name) => name.replaceAll(".", "[.]")).join("|")})$`;
}
