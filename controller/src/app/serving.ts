import { PATHS } from "@cloudwire/operator-api";
import type { ApiAccess } from "../kube/connection/access.ts";
import type { Options } from "./options.ts";
import { parseAddress } from "../options/host-port.ts";
import { type Checks, HealthMetrics } from "../server/health-metrics.ts";
import type { Verbosity } from "../server/profiling.ts";
import type { Plans } from "../observe/plans.ts";
import { startLoopbackServer } from "../server/loopback-server.ts";
import { type RunningServer, startServer } from "../server/server.ts";
import type { SupervisedController } from "../runtime/supervised-controller.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { Clock } from "../util/clock.ts";
import { messageOf } from "../util/errors.ts";
import { PemFileError } from "../util/pem-pair.ts";
import type { TaskGroup } from "../util/task-group.ts";
import type { Provider } from "../provider/model/provider.ts";
import type { ProviderSnapshot } from "../provider/provider-snapshot.ts";
import type { ConfigReloader } from "./config-reloader.ts";
import type { KubeSide } from "../kube/cluster.ts";
import type { ExplainPages } from "../explain/endpoints/explain.ts";
import type { OverviewPages } from "../explain/endpoints/overview.ts";
import { serveOperatorPages, servePages } from "./pages.ts";
import { serveSecurely } from "../server/secure-serving.ts";
import { UsageError } from "../util/usage-error.ts";
import { serveWebhooks } from "./webhooks.ts";

export interface ServingDependencies extends Checks {
  readonly options: Options;
  readonly reloader: ConfigReloader | undefined;
  /** None before they are built. */
  readonly controllers: () => readonly SupervisedController[];
  /** undefined: all plans are carried out. */
  readonly plans: Plans | undefined;
  readonly access: ApiAccess;
  readonly kube: KubeSide;
  readonly version: string;
  readonly metrics: Metrics;
  readonly tasks: TaskGroup;
  /** None before they are connected to. */
  readonly providers: () => readonly Provider[];
  readonly providerSnapshots: () => readonly ProviderSnapshot[];
  readonly overview: OverviewPages;
  readonly explain: ExplainPages;
  readonly clock: Clock;
  readonly log: Logger;
  readonly verbosity: Verbosity;
  readonly tracing: Tracing;
  /** Lines of `/statusz` about what runs. */
  readonly status: () => Readonly<Record<string, string>>;
}

/** The servers that run; a URL is undefined where that server is off. */
export interface Servers {
  /** Plain HTTP: health and metrics. */
  readonly healthUrl: string | undefined;
  /** HTTPS: all pages. */
  readonly secureUrl: string | undefined;
  /** Plain HTTP on loopback: the status page. */
  readonly statusPageUrl: string | undefined;
  /** Webhooks are served: an API server may send requests for as long as it believes this replica ready. */
  readonly hasWebhooks: boolean;
  close(): Promise<void>;
}

/** Starts the servers that the options want. Rejects with UsageError when one cannot be had; none is left then. */
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
  const address = parseAddress(options.healthAddress);
  if (address === undefined) return undefined;
  try {
    return await startServer({ address, metrics, health });
  } catch (error) {
    throw new UsageError(`--health-address: cannot listen on ${options.healthAddress}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

async function serveStatusPage(dependencies: ServingDependencies): Promise<RunningServer | undefined> {
  const { statusPageAddress } = dependencies.options;
  const address = parseAddress(statusPageAddress);
  if (address === undefined) return undefined;
  try {
    return await startLoopbackServer({ address, pages: (server) => serveOperatorPages(server, dependencies) });
  } catch (error) {
    const what = `cannot listen on ${statusPageAddress}: ${messageOf(error)}`;
    throw new UsageError(`--status-page-address: ${what}`, { cause: error });
  }
}

async function serveSecure(
  dependencies: ServingDependencies,
  health: HealthMetrics,
): Promise<RunningServer | undefined> {
  const { options, access, kube, metrics, tasks, clock, log } = dependencies;
  if (options.securePort === 0) return undefined;
  try {
    return await serveSecurely({
      options,
      access,
      clientOf: (reviewer) => kube.reviewClient(reviewer),
      pages: (server) => servePages(server, { ...dependencies, health }),
      metrics,
      tasks,
      clock,
      log,
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
