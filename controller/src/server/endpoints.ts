import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Metrics } from "../telemetry/metrics.ts";
import { isRecord } from "../util/json.ts";
import { type HealthCheck, type HealthPages, type Reasons, report } from "./health.ts";

/** `/healthz` and `/livez`, `/readyz`, and each check by its name below them, which always says why. */
export function serveHealth(server: FastifyInstance, pages: HealthPages, reasons: Reasons): void {
  for (const [endpoint, checks] of Object.entries(pages)) serveChecks(server, `/${endpoint}`, checks, reasons);
}

/** Metrics in Prometheus' text format. */
export function serveMetrics(server: FastifyInstance, path: string, metrics: Metrics): void {
  server.get(path, async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
}

/** A page of JSON whose content is made when it is asked for. */
export function serveJson(server: FastifyInstance, path: string, content: () => unknown): void {
  server.get(path, (_request, reply) => sendJson(reply, content()));
}

/** A page of JSON for each name below `path`; 404 where `content` has none. */
export function serveJsonOf(server: FastifyInstance, path: string, content: (name: string) => unknown): void {
  server.get(`${path}/:name`, (request, reply) => {
    const name = parameterOf(request.params, "name");
    const found = content(name);
    return found === undefined ? sendText(reply, 404, `there is no ${name}\n`) : sendJson(reply, found);
  });
}

/** A page of text whose content is made when it is asked for. */
export function serveText(server: FastifyInstance, path: string, content: () => string): void {
  server.get(path, (_request, reply) => sendText(reply, 200, content()));
}

export function sendText(reply: FastifyReply, code: number, text: string): FastifyReply {
  return noStore(reply).code(code).type("text/plain; charset=utf-8").send(text);
}

function sendJson(reply: FastifyReply, content: unknown): FastifyReply {
  return sendJsonText(reply, `${JSON.stringify(content, undefined, 2)}\n`);
}

/** JSON that is text already. */
export function sendJsonText(reply: FastifyReply, text: string): FastifyReply {
  return noStore(reply).type("application/json; charset=utf-8").send(text);
}

/** What an API server sends with such pages: they are about now. */
function noStore(reply: FastifyReply): FastifyReply {
  return reply.header("cache-control", "no-cache, private").header("x-content-type-options", "nosniff");
}

function serveChecks(server: FastifyInstance, path: string, checks: readonly HealthCheck[], reasons: Reasons): void {
  const endpoint = path.slice(1);
  server.get(path, (request, reply) => answer({ endpoint, checks, reasons }, request, reply));
  server.get(`${path}/:check`, (request, reply) => {
    const wanted = parameterOf(request.params, "check");
    const check = checks.find(({ name }) => name === wanted);
    if (check === undefined) return sendText(reply, 404, `no check ${wanted}\n`);
    return answer({ endpoint, checks: [check], reasons: "shown" }, request, reply);
  });
}

interface HealthPage {
  readonly endpoint: string;
  readonly checks: readonly HealthCheck[];
  readonly reasons: Reasons;
}

function answer({ endpoint, checks, reasons }: HealthPage, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { verbose, exclude } = queryOf(request.query);
  const { healthy, text } = report(endpoint, checks, exclude, reasons);
  return sendText(reply, healthy ? 200 : 500, healthy && !verbose ? "ok" : text);
}

/** `?verbose` and repeated `?exclude=name`, as on the API server. */
function queryOf(query: unknown): { readonly verbose: boolean; readonly exclude: readonly string[] } {
  if (typeof query !== "object" || query === null) return { verbose: false, exclude: [] };
  const exclude: unknown = "exclude" in query ? query.exclude : [];
  return { verbose: "verbose" in query, exclude: (Array.isArray(exclude) ? exclude : [exclude]).map(String) };
}

/** Of the path. */
export function parameterOf(params: unknown, name: string): string {
  const value = isRecord(params) ? params[name] : undefined;
  return typeof value === "string" ? value : "";
}
