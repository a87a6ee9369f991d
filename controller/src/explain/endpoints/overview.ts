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

/** Each takes a connection, and up to a message of 500 rows for a slow reader. */
const READERS = 32;

/** Serves the overview, the lists, the stream of both, and the status page. */
export class OverviewEndpoints {
  readonly #cache: StatusCache;
  readonly #streams: EventStreams;

  constructor(cache: StatusCache, samples: Samples, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#cache = cache;
    this.#streams = new EventStreams({
      open: (wake) => new StatusFeed(cache, samples, wake),
      limit: READERS,
      clock,
      log,
    });
  }

  serve(server: FastifyInstance): void {
    serveQuery(server, PATHS.overview, () => this.#overview());
    serveQuery(server, PATHS.objects, (query) => this.#objects(query));
    this.#streams.serve(server, PATHS.stream);
    servePage(server, STATUS_PAGE);
    server.addHook("onClose", async () => this.#cache.stop());
  }

  async #overview(): Promise<QueryResult> {
    await this.#cache.look();
    const { overview } = this.#cache;
    return overview === undefined ? ENDING : { kind: "json", text: `${JSON.stringify(overview, undefined, 2)}\n` };
  }

  async #objects(query: Query): Promise<QueryResult> {
    const parsed = parseRowQuery(query);
    if (parsed.kind === "invalid") return parsed;
    await this.#cache.look();
    if (this.#cache.overview === undefined) return ENDING;
    const wanted = parsed.query;
    const texts: string[] = [];
    let count = 0;
    for (const { row, json } of this.#cache.rows()) {
      if (matchesQuery(row, wanted) && ++count <= wanted.limit) texts.push(json);
    }
    const text = texts.length === 0 ? "[]\n" : `[\n${texts.join(",\n")}\n]\n`;
    return { kind: "json", text, headers: { "x-total-count": String(count) } };
  }
}

const ENDING: QueryResult = { kind: "unavailable", message: "the process is shutting down" };

/** Filters of rows; undefined: not filtered. */
export interface RowQuery {
  readonly kinds: ReadonlySet<string> | undefined;
  readonly states: ReadonlySet<string> | undefined;
  /** Lower case. */
  readonly search: string | undefined;
  readonly limit: number;
}

export type RowQueryResult =
  | { readonly kind: "query"; readonly query: RowQuery }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

const PARAMETERS = ["kind", "state", "search", "limit"];

/** `?kind=node,service&state=blocked&search=TEXT&limit=N`. Returns all problems. */
export function parseRowQuery(query: Query): RowQueryResult {
  const problems: string[] = [];
  const choice = (name: string, known: readonly string[]): ReadonlySet<string> | undefined => {
    const text = query[name] ?? "";
    if (text === "") return undefined;
    const wanted = text.split(",");
    for (const one of wanted)
      if (!known.includes(one)) problems.push(`${name}: invalid value "${one}"; use ${known.join(", ")}`);
    return new Set(wanted);
  };
  for (const name of Object.keys(query))
    if (!PARAMETERS.includes(name)) problems.push(`unknown parameter "${name}"; use ${PARAMETERS.join(", ")}`);
  const kinds = choice("kind", OBJECT_KINDS);
  const states = choice("state", STATES);
  const { limit = "", search = "" } = query;
  if (!/^\d{0,9}$/.test(limit) || Number(limit === "" ? 1 : limit) < 1)
    problems.push(`limit: "${limit}" is not a number above 0`);
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

/** Searches all texts of the row. */
export function matchesQuery(row: ObjectRow, { kinds, states, search }: Omit<RowQuery, "limit">): boolean {
  if (kinds !== undefined && !kinds.has(kindOf(row.object))) return false;
  if (states !== undefined && !states.has(row.state)) return false;
  if (search === undefined) return true;
  const { object, reason = "", summary, provider } = row;
  return [object, reason, summary, provider].some((text) => text.toLowerCase().includes(search));
}

/** File of the status page (status-page/scripts/build.ts). A literal path, because the bundle copies the files that it names. */
const FILES: PageAssets["assets"] = [
  { name: "", type: "text/html", file: new URL("../../../../status-page/dist/page/index.html", import.meta.url) },
  {
    name: "app.js",
    type: "text/javascript",
    file: new URL("../../../../status-page/dist/page/app.js", import.meta.url),
  },
  { name: "app.css", type: "text/css", file: new URL("../../../../status-page/dist/page/app.css", import.meta.url) },
  {
    name: "icon.svg",
    type: "image/svg+xml",
    file: new URL("../../../../status-page/dist/page/icon.svg", import.meta.url),
  },
];

const STATUS_PAGE: PageAssets = {
  path: PATHS.page,
  assets: FILES.map((file) =>
    file.type.startsWith("text/") ? { ...file, type: `${file.type}; charset=utf-8` } : file,
  ),
  missing:
    "The status page is not built. In a checkout, build it with `npm run build -w @cloudwire/status-page`; `npm run build` makes programs that contain it.",
};
