import type { Counter } from "prom-client";
import { Metrics } from "../telemetry/metrics.ts";
import type { HealthCheck } from "./health.ts";

export interface Checks {
  /** Fail only when a restart of the process would help. */
  readonly liveness: readonly HealthCheck[];
  /** Fail while the process cannot do its work, for whatever reason. */
  readonly readiness: readonly HealthCheck[];
}

/** Checks by the page that asks for them. */
export interface HealthPages {
  readonly healthz: readonly HealthCheck[];
  readonly livez: readonly HealthCheck[];
  readonly readyz: readonly HealthCheck[];
}

/**
 * The metrics of `/metrics/slis`: names and labels of component-base/metrics/prometheus/slis v0.36.3. The gauge tells how each check
 * is at the scrape, whoever asks for health besides; the counter has what was answered to those who did.
 */
export class HealthMetrics {
  /** Not part of `/metrics`: scraped more often. */
  readonly metrics = new Metrics();
  /** The checks, each look at which is counted. */
  readonly pages: HealthPages;
  readonly #results: Counter<"name" | "type" | "status">;

  constructor({ liveness, readiness }: Checks) {
    const pages = { healthz: liveness, livez: liveness, readyz: readiness };
    this.metrics.gauge({
      name: "kubernetes_healthcheck",
      help: "1: the check passes.",
      labels: ["name", "type"],
      collect: (gauge) => {
        for (const [type, checks] of Object.entries(pages)) {
          for (const check of checks) gauge.set({ name: check.name, type }, check.problem() === undefined ? 1 : 0);
        }
      },
    });
    this.#results = this.metrics.counter({
      name: "kubernetes_healthchecks_total",
      help: "Results of health checks that were asked for.",
      labels: ["name", "type", "status"],
    });
    this.pages = {
      healthz: liveness.map((check) => this.#counted("healthz", check)),
      livez: liveness.map((check) => this.#counted("livez", check)),
      readyz: readiness.map((check) => this.#counted("readyz", check)),
    };
  }

  #counted(type: keyof HealthPages, check: HealthCheck): HealthCheck {
    const { name } = check;
    return {
      name,
      problem: () => {
        const problem = check.problem();
        this.#results.inc({ name, type, status: problem === undefined ? "success" : "error" });
        return problem;
      },
      warning: () => check.warning?.(),
    };
  }
}
