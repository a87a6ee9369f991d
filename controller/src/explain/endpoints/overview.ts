import { OBJECT_KINDS, type ObjectRow, PATHS, STATES } from "@cloudwire/operator-api";
import type { FastifyInstance } from "fastify";
import { type PageAssets, servePage } from "../../server/assets.ts";
import { EventStreams } from "../../server/event-streams.ts";
import { type Query, type QueryResult, serveQuery } from "../../server/endpoints.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Clock } from "../../util/clock.ts";
import type { Samples } from "../overview/samples.ts";
import { type StatusCache, kindOf } from "../overview/status-cache.ts";
import { StatusFeed } from "../overview/status-feed.ts";

export interface OverviewEndpointsDependencies {
  readonly cache: StatusCache;
  readonly samples: Samples;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Each holds a connection, and up to a message of 500 rows for one who reads slowly. */
const READERS = 32;

/** How everything stands, for operators: the overview, lists, the stream of both, and the page that shows them. */
export class OverviewEndpoints {
  readonly #board: StatusCache;
  readonly #streams: EventStreams;

  constructor({ cache, samples, clock, log }: OverviewEndpointsDependencies) {
    this.#board = cache;
    this.#streams = new EventStreams({
      open: (wake) => new StatusFeed(cache, samples, wake),
      limit: READERS,
      clock,
      log,
    });
  }

  /** Puts them on a server; may be called for several. */
  serve(server: FastifyInstance): void {
    serveQuery(server, PATHS.overview, () => this.#overview());
    serveQuery(server, PATHS.objects, (query) => this.#objects(query));
    this.#streams.serve(server, PATHS.stream);
    servePage(server, STATUS_PAGE);
    server.addHook("onClose", async () => this.#board.stop());
  }

  async #overview(): Promise<QueryResult> {
    await this.#board.look();
    const { overview } = this.#board;
    return overview === undefined ? ENDING : { kind: "json", text: `${JSON.stringify(overview, undefined, 2)}\n` };
  }

  async #objects(query: Query): Promise<QueryResult> {
    const parsed = parseRowQuery(query);
    if (parsed.kind === "invalid") return parsed;
    await this.#board.look();
    if (this.#board.overview === undefined) return ENDING;
    const wanted = parsed.query;
    const texts: string[] = [];
    let count = 0;
    for (const { row, json } of this.#board.rows()) {
      if (matchesQuery(row, wanted) && ++count <= wanted.limit) texts.push(json);
    }
    const text = texts.length === 0 ? "[]\n" : `[\n${texts.join(",\n")}\n]\n`;
    return { kind: "json", text, headers: { "x-total-count": String(count) } };
  }
}

const ENDING: QueryResult = { kind: "unavailable", message: "the process is shutting down" };

/** Which rows are wanted; what is undefined is not asked about. */
export interface RowQuery {
  readonly kinds: ReadonlySet<string> | undefined;
  readonly states: ReadonlySet<string> | undefined;
  /** In lower case. */
  readonly search: string | undefined;
  readonly limit: number;
}

export type RowQueryResult =
  | { readonly kind: "query"; readonly query: RowQuery }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

const PARAMETERS = ["kind", "state", "search", "limit"];

/** `?kind=node,service&state=blocked&search=TEXT&limit=N`; all problems together. */
export function parseRowQuery(query: Query): RowQueryResult {
  const problems: string[] = [];
  const choice = (name: string, known: readonly string[]): ReadonlySet<string> | undefined => {
    const text = query[name] ?? "";
    if (text === "") return undefined;
    const wanted = text.split(",");
    for (const one of wanted)
      if (!known.includes(one)) problems.push(`${name}: "${one}" is none of ${known.join(", ")}`);
    return new Set(wanted);
  };
  for (const name of Object.keys(query))
    if (!PARAMETERS.includes(name)) problems.push(`"${name}" is no parameter; there are ${PARAMETERS.join(", ")}`);
  const kinds = choice("kind", OBJECT_KINDS);
  const states = choice("state", STATES);
  const { limit = "", search = "" } = query;
  if (!/^\d{0,9}$/.test(limit) || Number(limit === "" ? 1 : limit) < 1)
    problems.push(`limit: "${limit}" is no number from 1 on`);
  if (problems.length > 0) return { kind: "invalid", problems };
  return {
    kind: "query",
    query: {
      kinds,
      states,
      search: search === "" ? undefined : search.toLowerCase(),
      limit: limit === "" ? Number.POSITIVE_INFINITY : Number(limit),
    },
  };
}

/** Text is looked for in everything that a row says. */
export function matchesQuery(row: ObjectRow, { kinds, states, search }: Omit<RowQuery, "limit">): boolean {
  if (kinds !== undefined && !kinds.has(kindOf(row.object))) return false;
  if (states !== undefined && !states.has(row.state)) return false;
  if (search === undefined) return true;
  const { object, reason = "", summary, provider } = row;
  return [object, reason, summary, provider].some((text) => text.toLowerCase().includes(search));
}

/** The files of the status page (status-page/scripts/build.ts). The bundle of this program has them beside it, for they are named here. */
const STATUS_PAGE: PageAssets = {
  path: PATHS.page,
  assets: [
    {
      name: "",
      file: new URL("../../../../status-page/dist/page/index.html", import.meta.url),
      type: "text/html; charset=utf-8",
    },
    {
      name: "app.js",
      file: new URL("../../../../status-page/dist/page/app.js", import.meta.url),
      type: "text/javascript; charset=utf-8",
    },
    {
      name: "app.css",
      file: new URL("../../../../status-page/dist/page/app.css", import.meta.url),
      type: "text/css; charset=utf-8",
    },
    {
      name: "icon.svg",
      file: new URL("../../../../status-page/dist/page/icon.svg", import.meta.url),
      type: "image/svg+xml",
    },
  ],
  missing:
    "The status page is not built here. In a checkout `npm run build -w @cloudwire/status-page` builds it, and it is served from then on; `npm run build` makes programs that have it.",
};
