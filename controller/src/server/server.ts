import fastify from "fastify";
import type { HostPort } from "../options/host-port.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { type Checks, serveHealth, serveMetrics } from "./endpoints.ts";

export interface ServerDependencies extends Checks {
  readonly address: HostPort;
  readonly metrics: Metrics;
}

export interface RunningServer {
  /** Where it listens; the port is the real one. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves health and metrics until closed. Rejects when the address cannot be had. */
export async function startServer({ address, metrics, ...checks }: ServerDependencies): Promise<RunningServer> {
  const server = fastify({ logger: false, forceCloseConnections: true });
  serveHealth(server, checks, "shown");
  serveMetrics(server, metrics);
  const url = await server.listen(address);
  return { url, close: () => server.close() };
}
