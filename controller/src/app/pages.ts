import { PATHS } from "@cloudwire/operator-api";
import type { FastifyInstance } from "fastify";
import { CONTROLLER_ALIASES } from "../api/controller-names.ts";
import type { Plans } from "../observe/plans.ts";
import { configTree, flagLines } from "../options/show.ts";
import type { Options } from "./options.ts";
import type { ProviderSnapshot } from "../provider/provider-snapshot.ts";
import type { SupervisedController } from "../runtime/supervised-controller.ts";
import { serveHealth, serveJson, serveJsonOf, serveMetrics, serveText } from "../server/endpoints.ts";
import type { HealthMetrics } from "../server/health-metrics.ts";
import { serveProfiling, type Verbosity } from "../server/profiling.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clock } from "../util/clock.ts";
import { CONTROLLERS } from "./controllers.ts";
import { controllerDetails, controllersOverview } from "../explain/endpoints/debug.ts";
import { debugPlans } from "../explain/endpoints/debug-plans.ts";
import { debugProviders } from "../explain/endpoints/debug-providers.ts";
import type { ExplainPages } from "../explain/endpoints/explain.ts";
import type { OverviewPages } from "../explain/endpoints/overview.ts";
import { type ConfigReloader, reloadReport } from "./config-reloader.ts";

export interface OperatorPagesDependencies {
  /** None before they are built. */
  readonly controllers: () => readonly SupervisedController[];
  /** undefined: all plans are carried out. */
  readonly plans: Plans | undefined;
  /** None before they are connected to. */
  readonly providerSnapshots: () => readonly ProviderSnapshot[];
  readonly overview: OverviewPages;
  readonly explain: ExplainPages;
  readonly clock: Clock;
}

export interface PagesDependencies extends OperatorPagesDependencies {
  readonly options: Options;
  readonly reloader: ConfigReloader | undefined;
  readonly version: string;
  readonly metrics: Metrics;
  readonly health: HealthMetrics;
  readonly verbosity: Verbosity;
  /** Lines of `/statusz` about what runs. */
  readonly status: () => Readonly<Record<string, string>>;
}

/** Upstream's key of the configuration at `/configz`. */
const CONFIG_KEY = "cloudcontrollermanager.config.k8s.io";

/** Ours: how the configuration file stands against what is in force. */
const CONFIG_FILE_KEY = "config-file.cloudwire.dev";

/** As Kubernetes' components begin these pages (component-base/zpages v0.36.3). */
const NOT_FOR_MACHINES =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees.";

/** Health, metrics, and what the process says of itself. */
export function servePages(server: FastifyInstance, dependencies: PagesDependencies): void {
  const { options, reloader, version, metrics, health, clock } = dependencies;
  const startedMs = clock.nowMs();
  const monotonicStartMs = clock.monotonicMs();
  serveHealth(server, health.pages, "withheld");
  serveMetrics(server, "/metrics", metrics);
  serveMetrics(server, "/metrics/slis", health.metrics);
  if (options.profiling) serveProfiling(server, dependencies.verbosity);
  serveJson(server, "/version", () => ({ gitVersion: `v${version}`, platform: `${process.platform}/${process.arch}` }));
  serveJson(server, "/configz", () => ({
    [CONFIG_KEY]: configTree(options),
    ...(reloader === undefined ? {} : { [CONFIG_FILE_KEY]: reloadReport(reloader.state) }),
  }));
  serveOperatorPages(server, dependencies);
  dependencies.explain.serveOrphans(server);
  serveText(server, "/flagz", () => page("flagz", flagLines(options)));
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

/** What the status page shows, and the page. Nothing there can be changed, and nobody else is asked for it. */
export function serveOperatorPages(server: FastifyInstance, dependencies: OperatorPagesDependencies): void {
  const { controllers, plans, providerSnapshots, overview, explain, clock } = dependencies;
  serveControllers(server, dependencies);
  serveJson(server, PATHS.providers, () => debugProviders(providerSnapshots(), clock.nowMs()));
  serveJson(server, PATHS.plans, () => debugPlans(plans, controllers()));
  overview.serve(server);
  explain.serveExplain(server);
}

/** Costs nothing until somebody asks. */
function serveControllers(server: FastifyInstance, { controllers, clock }: OperatorPagesDependencies): void {
  serveJson(server, PATHS.controllers, () => controllersOverview(CONTROLLERS, controllers()));
  serveJsonOf(server, PATHS.controllers, (given) => {
    const name = CONTROLLER_ALIASES[given] ?? given;
    return CONTROLLERS.has(name) ? controllerDetails(name, controllers(), clock.nowMs()) : undefined;
  });
}

function page(name: string, lines: readonly string[]): string {
  return `\ncloudwire-controller-manager ${name}\n${NOT_FOR_MACHINES}\n\n${lines.join("\n")}\n`;
}
