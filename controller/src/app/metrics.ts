import type { Counter, Gauge } from "prom-client";
import type { Metrics } from "../telemetry/metrics.ts";

/** What has become of the configuration file. */
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
      help: "Times the configuration file was read again, by result: success or failure. A file that fails changes nothing.",
      labels: ["result"],
    }),
    lastSuccessful: metrics.gauge({
      name: "cloudwire_config_last_reload_successful",
      help: "1: what the configuration file said when it was last read is in force, the start included; 0: it is refused.",
    }),
    lastSuccess: metrics.gauge({
      name: "cloudwire_config_last_reload_success_timestamp_seconds",
      help: "When the configuration file was last read with success, the start included.",
    }),
    needRestart: metrics.gauge({
      name: "cloudwire_config_settings_needing_restart",
      help: "Settings of the configuration file that take effect at the next start only.",
    }),
  };
}
