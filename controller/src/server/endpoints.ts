import fastify from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { HostPort } from "../options/flag.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { isRecord } from "../util/json.ts";
import { type HealthCheck, type HealthMetrics, type HealthPages, type Reasons, report } from "./health.ts";

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
function sendJsonText(reply: FastifyReply, text: string): FastifyReply {
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
  const { verbose, exclude } = healthQuery(request.query);
  const { healthy, text } = report(endpoint, checks, exclude, reasons);
  return sendText(reply, healthy ? 200 : 500, healthy && !verbose ? "ok" : text);
}

/** `?verbose` and repeated `?exclude=name`, as on the API server. */
function healthQuery(query: unknown): { readonly verbose: boolean; readonly exclude: readonly string[] } {
  if (typeof query !== "object" || query === null) return { verbose: false, exclude: [] };
  const exclude: unknown = "exclude" in query ? query.exclude : [];
  return { verbose: "verbose" in query, exclude: (Array.isArray(exclude) ? exclude : [exclude]).map(String) };
}

/** Of the path. */
export function parameterOf(params: unknown, name: string): string {
  const value = isRecord(params) ? params[name] : undefined;
  return typeof value === "string" ? value : "";
}

export interface ServerDependencies {
  readonly address: HostPort;
  readonly metrics: Metrics;
  readonly health: HealthMetrics;
}

export interface RunningServer {
  /** Where it listens; the port is the real one. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves health and metrics until closed. Rejects when the address cannot be had. */
export async function startServer({ address, metrics, health }: ServerDependencies): Promise<RunningServer> {
  const server = fastify({ logger: false, forceCloseConnections: true });
  serveHealth(server, health.pages, "shown");
  serveMetrics(server, "/metrics", metrics);
  serveMetrics(server, "/metrics/slis", health.metrics);
  const url = await server.listen(address);
  return { url, close: () => server.close() };
}

/** Of a request; what is given more than once counts by its last. */
export type Query = Readonly<Record<string, string>>;

export type QueryAnswer =
  /** JSON as text, so that whoever has it ready need not make it again. */
  | { readonly kind: "json"; readonly text: string; readonly headers?: Readonly<Record<string, string>> }
  /** The question is wrong. */
  | { readonly kind: "problem"; readonly problems: readonly string[] }
  | { readonly kind: "unavailable"; readonly why: string };

/** A page of JSON that is asked for with a question. */
export function serveQuery(
  server: FastifyInstance,
  path: string,
  answer: (query: Query) => Promise<QueryAnswer>,
): void {
  server.get(path, async (request, reply) => {
    const answered = await answer(lastOfEach(request.query));
    switch (answered.kind) {
      case "json":
        return sendJsonText(reply.headers(answered.headers ?? {}), answered.text);
      case "problem":
        return sendText(reply, 400, answered.problems.map((problem) => `${problem}\n`).join(""));
      case "unavailable":
        return sendText(reply, 503, `${answered.why}\n`);
      default:
        return answered satisfies never;
    }
  });
}

function lastOfEach(query: unknown): Query {
  if (!isRecord(query)) return {};
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, String(Array.isArray(value) ? value.at(-1) : value)]),
  );
}
