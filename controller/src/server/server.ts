import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { HostPort } from "../options/validate.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { type HealthCheck, report } from "./health.ts";

export interface ServerDependencies {
  readonly address: HostPort;
  readonly metrics: Metrics;
  /** Fail only when a restart of the process would help. */
  readonly liveness: readonly HealthCheck[];
  /** Fail while the process cannot do its work, for whatever reason. */
  readonly readiness: readonly HealthCheck[];
}

export interface RunningServer {
  /** Where it listens; the port is the real one. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves health and metrics until closed. Rejects when the address cannot be had. */
export async function startServer(dependencies: ServerDependencies): Promise<RunningServer> {
  const server = fastify({ logger: false, forceCloseConnections: true });
  for (const path of ["/healthz", "/livez"]) serveChecks(server, path, dependencies.liveness);
  serveChecks(server, "/readyz", dependencies.readiness);
  server.get("/metrics", async (_request, reply) => {
    const text = await dependencies.metrics.text();
    return reply.type(dependencies.metrics.contentType).send(text);
  });
  const { host, port } = dependencies.address;
  const url = await server.listen({ host, port });
  return { url, close: () => server.close() };
}

function serveChecks(server: FastifyInstance, path: string, checks: readonly HealthCheck[]): void {
  server.get(path, (request, reply) => answer(path.slice(1), checks, request, reply));
  server.get(`${path}/:check`, (request, reply) => {
    const wanted = nameOf(request.params);
    const check = checks.find(({ name }) => name === wanted);
    if (check === undefined) return reply.code(404).type("text/plain").send(`no check ${wanted}\n`);
    return answer(path.slice(1), [check], request, reply);
  });
}

function answer(
  endpoint: string,
  checks: readonly HealthCheck[],
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { verbose, exclude } = queryOf(request.query);
  const { healthy, text } = report(endpoint, checks, exclude);
  return reply
    .code(healthy ? 200 : 500)
    .header("cache-control", "no-cache, private")
    .header("x-content-type-options", "nosniff")
    .type("text/plain; charset=utf-8")
    .send(healthy && !verbose ? "ok" : text);
}

/** `?verbose` and repeated `?exclude=name`, as on the API server. */
function queryOf(query: unknown): { readonly verbose: boolean; readonly exclude: readonly string[] } {
  if (typeof query !== "object" || query === null) return { verbose: false, exclude: [] };
  const exclude: unknown = "exclude" in query ? query.exclude : [];
  return { verbose: "verbose" in query, exclude: (Array.isArray(exclude) ? exclude : [exclude]).map(String) };
}

function nameOf(params: unknown): string {
  return typeof params === "object" && params !== null && "check" in params ? String(params.check) : "";
}
