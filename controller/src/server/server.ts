import fastify from "fastify";
import type { HostPort } from "../options/flag.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { serveHealth, serveMetrics } from "./endpoints.ts";
import type { HealthMetrics } from "./health.ts";

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
