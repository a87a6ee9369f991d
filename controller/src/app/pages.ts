import type { FastifyInstance } from "fastify";
import { configTree, flagLines } from "../options/show.ts";
import type { Options } from "../options/options.ts";
import { serveHealth, serveJson, serveMetrics, serveText } from "../server/endpoints.ts";
import type { HealthMetrics } from "../server/health-metrics.ts";
import { serveProfiling, type Verbosity } from "../server/profiling.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clock } from "../util/clock.ts";
import { type ConfigReloader, reloadReport } from "./config-reloader.ts";

export interface PagesDependencies {
  readonly options: Options;
  readonly reloader: ConfigReloader | undefined;
  readonly version: string;
  readonly metrics: Metrics;
  readonly health: HealthMetrics;
  readonly clock: Clock;
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

function page(name: string, lines: readonly string[]): string {
  return `\ncloudwire-controller-manager ${name}\n${NOT_FOR_MACHINES}\n\n${lines.join("\n")}\n`;
}
