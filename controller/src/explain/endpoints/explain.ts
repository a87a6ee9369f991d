import { PATHS } from "@cloudwire/operator-api";
import type { FastifyInstance } from "fastify";
import { type QueryResult, serveQuery } from "../../server/endpoints.ts";
import type { Orphans } from "../evaluate/orphans.ts";
import type { Explainer } from "../explainer.ts";
import { parseObject } from "../objects.ts";

export function serveExplain(server: FastifyInstance, explainer: Explainer): void {
  serveQuery(server, PATHS.explain, async ({ object }) => {
    const parsed = parseObject(object);
    return "problems" in parsed ? { kind: "invalid", ...parsed } : json(explainer.explain(parsed));
  });
}

/** Sends requests to the clouds. */
export function serveOrphans(server: FastifyInstance, orphans: Orphans): void {
  serveQuery(server, PATHS.orphans, async () => json(await orphans.find()));
}

function json(content: object): QueryResult {
  return { kind: "json", text: `${JSON.stringify(content, undefined, 2)}\n` };
}
