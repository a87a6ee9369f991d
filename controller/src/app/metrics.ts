import type { Counter, Gauge } from "prom-client";
import type { Metrics } from "../telemetry/metrics.ts";

export interface ReloadMetrics {
  readonly reloads: Counter<"result">;
  readonly lastSuccessful: Gauge;
  readonly lastSuccess: Gauge;
  readonly needRestart: Gauge;
}

export function reloadMetrics(metrics: Metrics): ReloadMetrics {
  return {
    reloads: metrics.counter({
      name: "cloudwire_config_reloads_total",
      help: "Reloads of the configuration file, by result. An invalid file changes nothing.",
      labels: ["result"],
    }),
    lastSuccessful: metrics.gauge({
      name: "cloudwire_config_last_reload_successful",
      help: "1: the last load of the configuration file succeeded. 0: the file was rejected, and the previous configuration is in use.",
    }),
    lastSuccess: metrics.gauge({
      name: "cloudwire_config_last_reload_success_timestamp_seconds",
      help: "Unix time of the last successful load of the configuration file.",
    }),
    needRestart: metrics.gauge({
      name: "cloudwire_config_settings_needing_restart",
      help: "Changed settings of the configuration file that need a restart.",
    }),
  };
}
