import { PATHS } from "@cloudwire/operator-api";
import type { FastifyInstance } from "fastify";
import { servePage } from "../../server/assets.ts";
import { EventStreams } from "../../server/event-streams.ts";
import { type Query, type QueryAnswer, serveQuery } from "../../server/query-pages.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Clock } from "../../util/clock.ts";
import { BoardFeed } from "../overview/status-feed.ts";
import { STATUS_PAGE } from "./page-assets.ts";
import { matchesQuery, parseRowQuery } from "./row-query.ts";
import type { Samples } from "../overview/samples.ts";
import type { StatusBoard } from "../overview/status-cache.ts";

export interface OverviewPagesDependencies {
  readonly board: StatusBoard;
  readonly samples: Samples;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Each holds a connection, and up to a message of 500 rows for one who reads slowly. */
const READERS = 32;

/** How everything stands, for operators: the overview, lists, the stream of both, and the page that shows them. */
export class OverviewPages {
  readonly #board: StatusBoard;
  readonly #streams: EventStreams;

  constructor({ board, samples, clock, log }: OverviewPagesDependencies) {
    this.#board = board;
    this.#streams = new EventStreams({
      open: (wake) => new BoardFeed(board, samples, wake),
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

  async #overview(): Promise<QueryAnswer> {
    await this.#board.look();
    const { overview } = this.#board;
    return overview === undefined ? ENDING : { kind: "json", text: `${JSON.stringify(overview, undefined, 2)}\n` };
  }

  async #objects(query: Query): Promise<QueryAnswer> {
    const parsed = parseRowQuery(query);
    if (parsed.kind === "problem") return parsed;
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

const ENDING: QueryAnswer = { kind: "unavailable", why: "the process is ending" };
