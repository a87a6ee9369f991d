import fastify from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { HostPort } from "../options/flag.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { isRecord } from "../util/json.ts";
import { type HealthCheck, type HealthMetrics, type HealthEndpoints, type Reasons, report } from "./health.ts";

/** `/healthz`, `/livez`, `/readyz`, and each check below them, which always shows its reason. */
export function serveHealth(server: FastifyInstance, endpoints: HealthEndpoints, reasons: Reasons): void {
  for (const [endpoint, checks] of Object.entries(endpoints)) serveChecks(server, `/${endpoint}`, checks, reasons);
}

export function serveMetrics(server: FastifyInstance, path: string, metrics: Metrics): void {
  server.get(path, async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
}

export function serveJson(server: FastifyInstance, path: string, content: () => unknown): void {
  server.get(path, (_request, reply) => sendJson(reply, content()));
}

/** JSON for each name below `path`; 404 where `content` returns undefined. */
export function serveJsonOf(server: FastifyInstance, path: string, content: (name: string) => unknown): void {
  server.get(`${path}/:name`, (request, reply) => {
    const name = parameterOf(request.params, "name");
    const found = content(name);
    return found === undefined ? sendText(reply, 404, `${name} not found\n`) : sendJson(reply, found);
  });
}

export function serveText(server: FastifyInstance, path: string, content: () => string): void {
  server.get(path, (_request, reply) => sendText(reply, 200, content()));
}

export function sendText(reply: FastifyReply, code: number, text: string): FastifyReply {
  return noStore(reply).code(code).type("text/plain; charset=utf-8").send(text);
}

function sendJson(reply: FastifyReply, content: unknown): FastifyReply {
  return sendJsonText(reply, `${JSON.stringify(content, undefined, 2)}\n`);
}

function sendJsonText(reply: FastifyReply, text: string): FastifyReply {
  return noStore(reply).type("application/json; charset=utf-8").send(text);
}

/** As the API server for such endpoints. */
function noStore(reply: FastifyReply): FastifyReply {
  return reply.header("cache-control", "no-cache, private").header("x-content-type-options", "nosniff");
}

function serveChecks(server: FastifyInstance, path: string, checks: readonly HealthCheck[], reasons: Reasons): void {
  const send = (selected: readonly HealthCheck[], shown: Reasons, { query }: FastifyRequest, reply: FastifyReply) => {
    const { verbose, exclude } = healthQuery(query);
    const { healthy, text } = report(path.slice(1), selected, exclude, shown);
    return sendText(reply, healthy ? 200 : 500, healthy && !verbose ? "ok" : text);
  };
  server.get(path, (request, reply) => send(checks, reasons, request, reply));
  server.get(`${path}/:check`, (request, reply) => {
    const checkName = parameterOf(request.params, "check");
    const selected = checks.filter(({ name }) => name === checkName);
    if (selected.length === 0) return sendText(reply, 404, `no check ${checkName}\n`);
    return send(selected, "shown", request, reply);
  });
}

/** `?verbose` and repeated `?exclude=name`, as on the API server. */
function healthQuery(query: unknown): { readonly verbose: boolean; readonly exclude: readonly string[] } {
  if (typeof query !== "object" || query === null) return { verbose: false, exclude: [] };
  const exclude: unknown = "exclude" in query ? query.exclude : [];
  return { verbose: "verbose" in query, exclude: (Array.isArray(exclude) ? exclude : [exclude]).map(String) };
}

/** A parameter of the path. */
export function parameterOf(params: unknown, name: string): string {
  const value = isRecord(params) ? params[name] : undefined;
  return typeof value === "string" ? value : "";
}

export interface RunningServer {
  /** With the actual port. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves health and metrics over plain HTTP. Rejects when it cannot listen. */
export async function startServer(address: HostPort, metrics: Metrics, health: HealthMetrics): Promise<RunningServer> {
  const server = fastify({ logger: false, forceCloseConnections: true });
  serveHealth(server, health.endpoints, "shown");
  serveMetrics(server, "/metrics", metrics);
  serveMetrics(server, "/metrics/slis", health.metrics);
  const url = await server.listen(address);
  return { url, close: () => server.close() };
}

/** The last value of each parameter. */
export type Query = Readonly<Record<string, string>>;

export type QueryResult =
  /** Text, which the caller may have cached. */
  | { readonly kind: "json"; readonly text: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: "invalid"; readonly problems: readonly string[] }
  | { readonly kind: "unavailable"; readonly message: string };

/** JSON that depends on the query. */
export function serveQuery(
  server: FastifyInstance,
  path: string,
  handle: (query: Query) => Promise<QueryResult>,
): void {
  server.get(path, async (request, reply) => {
    const result = await handle(lastOfEach(request.query));
    switch (result.kind) {
      case "json":
        return sendJsonText(reply.headers(result.headers ?? {}), result.text);
      case "invalid":
        return sendText(reply, 400, result.problems.map((problem) => `${problem}\n`).join(""));
      case "unavailable":
        return sendText(reply, 503, `${result.message}\n`);
      default:
        return result satisfies never;
    }
  });
}

function lastOfEach(query: unknown): Query {
  if (!isRecord(query)) return {};
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, String(Array.isArray(value) ? value.at(-1) : value)]),
  );
}
