import { PATHS } from "@cloudwire/operator-api";
import type { FastifyInstance } from "fastify";
import { serveOrphans } from "../explain/endpoints/explain.ts";
import { type OperatorEndpoints, serveOperatorEndpoints } from "../explain/register.ts";
import type { ClusterConnection } from "../kube/cluster.ts";
import type { ApiAccess } from "../kube/connection/access.ts";
import { parseAddress } from "../options/flag.ts";
import { configTree, flagLines } from "../options/help.ts";
import type { Provider } from "../provider/model/provider.ts";
import {
  type RunningServer,
  serveHealth,
  serveJson,
  serveMetrics,
  serveText,
  startServer,
} from "../server/endpoints.ts";
import { type Checks, HealthMetrics } from "../server/health.ts";
import { startLoopbackServer } from "../server/loopback-server.ts";
import { type Verbosity, serveProfiling } from "../server/profiling.ts";
import { serveSecurely } from "../server/secure-server.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { UsageError, messageOf } from "../util/errors.ts";
import { PemFileError } from "../util/pem-pair.ts";
import type { TaskGroup } from "../util/task-group.ts";
import { type ConfigReloader, reloadReport } from "./config-reloader.ts";
import { type Options, TABLE } from "./options.ts";
import { serveWebhooks } from "./webhooks.ts";

export interface EndpointsDependencies extends OperatorEndpoints {
  readonly options: Options;
  readonly reloader: ConfigReloader | undefined;
  readonly version: string;
  readonly metrics: Metrics;
  readonly health: HealthMetrics;
  readonly verbosity: Verbosity;
  /** Lines of `/statusz`. */
  readonly status: () => Readonly<Record<string, string>>;
}

export interface ServingDependencies extends Checks, Omit<EndpointsDependencies, "health"> {
  readonly access: ApiAccess;
  readonly kube: Pick<ClusterConnection, "reviewClient">;
  readonly tasks: TaskGroup;
  /** Empty before they are connected. */
  readonly providers: () => readonly Provider[];
  readonly log: Logger;
  readonly tracing: Tracing;
}

/** The running servers; the URL of a disabled one is undefined. */
export interface Servers {
  /** Plain HTTP: health and metrics. */
  readonly healthUrl: string | undefined;
  /** HTTPS: all endpoints. */
  readonly secureUrl: string | undefined;
  /** Plain HTTP on loopback: the status page. */
  readonly statusPageUrl: string | undefined;
  readonly hasWebhooks: boolean;
  close(): Promise<void>;
}

/** Starts the enabled servers. Rejects with UsageError when one cannot start, and closes the others. */
export async function startServers(dependencies: ServingDependencies): Promise<Servers> {
  await using running = new AsyncDisposableStack();
  const keep = (server: RunningServer | undefined): RunningServer | undefined => {
    if (server !== undefined) running.defer(() => server.close());
    return server;
  };
  const health = new HealthMetrics(dependencies);
  const plain = keep(await servePlain(dependencies, health));
  const secure = keep(await serveSecure(dependencies, health));
  const statusPage = keep(await serveStatusPage(dependencies));
  const webhooks = keep(await serveWebhooks(dependencies));
  const all = running.move();
  return {
    healthUrl: plain?.url,
    secureUrl: secure?.url,
    statusPageUrl: statusPage && `${statusPage.url}${PATHS.page}/`,
    hasWebhooks: webhooks !== undefined,
    close: () => all.disposeAsync(),
  };
}

async function servePlain(
  { options, metrics }: ServingDependencies,
  health: HealthMetrics,
): Promise<RunningServer | undefined> {
  const address = parseAddress(options.healthBindAddress);
  if (address === undefined) return undefined;
  return listening("--health-bind-address", options.healthBindAddress, () => startServer(address, metrics, health));
}

async function serveStatusPage(dependencies: ServingDependencies): Promise<RunningServer | undefined> {
  const { statusPageBindAddress } = dependencies.options;
  const address = parseAddress(statusPageBindAddress);
  if (address === undefined) return undefined;
  return listening("--status-page-bind-address", statusPageBindAddress, () =>
    startLoopbackServer({ address, register: (server) => serveOperatorEndpoints(server, dependencies) }),
  );
}

async function listening(flag: string, address: string, start: () => Promise<RunningServer>): Promise<RunningServer> {
  try {
    return await start();
  } catch (error) {
    throw new UsageError(`${flag}: cannot listen on ${address}: ${messageOf(error)}`, { cause: error });
  }
}

async function serveSecure(
  dependencies: ServingDependencies,
  health: HealthMetrics,
): Promise<RunningServer | undefined> {
  const { options, kube } = dependencies;
  if (options.securePort === 0) return undefined;
  try {
    return await serveSecurely({
      ...dependencies,
      clientOf: (reviewer) => kube.reviewClient(reviewer),
      register: (server) => serveEndpoints(server, { ...dependencies, health }),
    });
  } catch (error) {
    if (error instanceof PemFileError) throw new UsageError(error.message, { cause: error });
    if (!isListenFailure(error)) throw error;
    const where = `${options.bindAddress}, port ${options.securePort}`;
    throw new UsageError(`--secure-port: cannot listen on ${where}: ${messageOf(error)}`, { cause: error });
  }
}

/** Failures of listen(2) and bind(2). */
function isListenFailure(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && (error.syscall === "listen" || error.syscall === "bind");
}

/** Upstream's key of the configuration at `/configz`. */
const CONFIG_KEY = "cloudcontrollermanager.config.k8s.io";

/** Ours: the state of the configuration file. */
const CONFIG_FILE_KEY = "config-file.cloudwire.dev";

/** component-base/zpages v0.36.3. */
const WARNING =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees.";

export function serveEndpoints(server: FastifyInstance, dependencies: EndpointsDependencies): void {
  const { options, reloader, version, metrics, health, clock } = dependencies;
  const startedMs = clock.nowMs();
  const monotonicStartMs = clock.monotonicMs();
  serveHealth(server, health.endpoints, "withheld");
  serveMetrics(server, "/metrics", metrics);
  serveMetrics(server, "/metrics/slis", health.metrics);
  if (options.profiling) serveProfiling(server, dependencies.verbosity);
  serveJson(server, "/version", () => ({ gitVersion: `v${version}`, platform: `${process.platform}/${process.arch}` }));
  serveJson(server, "/configz", () => ({
    [CONFIG_KEY]: configTree(TABLE, options),
    ...(reloader === undefined ? {} : { [CONFIG_FILE_KEY]: reloadReport(reloader.state) }),
  }));
  serveOperatorEndpoints(server, dependencies);
  serveOrphans(server, dependencies.orphans);
  serveText(server, "/flagz", () => page("flagz", flagLines(TABLE, options)));
  serveText(server, "/statusz", () => {
    const upSeconds = Math.floor((clock.monotonicMs() - monotonicStartMs) / 1000);
    const lines = {
      Started: new Date(startedMs).toUTCString(),
      Up: `${Math.floor(upSeconds / 3600)} hr ${Math.floor((upSeconds % 3600) / 60)} min ${upSeconds % 60} sec`,
      Node: process.version,
      Version: version,
      ...dependencies.status(),
    };
    return page(
      "statusz",
      Object.entries(lines).map(([name, text]) => `${name}: ${text}`),
    );
  });
}

function page(name: string, lines: readonly string[]): string {
  return `\ncloudwire-controller-manager ${name}\n${WARNING}\n\n${lines.join("\n")}\n`;
}
