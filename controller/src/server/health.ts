import type { NamedInformer } from "../kube/cluster.ts";
import type { SupervisedController } from "../runtime/supervised-controller.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { messageOf } from "../util/errors.ts";
import { iso } from "../util/text.ts";

export interface HealthCheck {
  /** As in `/readyz/<name>`. */
  readonly name: string;
  /** undefined: passed. Otherwise one line with the problem and how to fix it. Synchronous. */
  problem(): string | undefined;
  /** One line for `?verbose` of a check that passes. @default none */
  warning?(): string | undefined;
}

export interface HealthReport {
  readonly healthy: boolean;
  /** As the API server: `[+]name ok` or `[-]name failed: reason`; with a warning: `[+]name ok, but: warning`. */
  readonly text: string;
}

/** As on the API server, endpoints that anyone may read withhold reasons. */
export type Reasons = "shown" | "withheld";

export function report(
  endpoint: string,
  checks: readonly HealthCheck[],
  excluded: readonly string[],
  reasons: Reasons = "shown",
): HealthReport {
  const results = checks
    .filter(({ name }) => !excluded.includes(name))
    .map((check) => ({ name: check.name, problem: check.problem(), warning: check.warning?.() }));
  const healthy = results.every(({ problem }) => problem === undefined);
  const lines = results.map(({ name, problem, warning }) => {
    if (problem !== undefined) return `[-]${name} failed: ${reasons === "shown" ? problem : "reason withheld"}`;
    return warning === undefined || reasons === "withheld" ? `[+]${name} ok` : `[+]${name} ok, but: ${warning}`;
  });
  const unknown = excluded.filter((name) => !checks.some((check) => check.name === name));
  const warning = unknown.length > 0 ? [`warn: no such check: ${unknown.join(", ")}`] : [];
  return { healthy, text: [...lines, ...warning, `${endpoint} check ${healthy ? "passed" : "failed"}`, ""].join("\n") };
}

export interface Checks {
  /** Fail only when a restart would help. */
  readonly liveness: readonly HealthCheck[];
  /** Fail while the process cannot work. */
  readonly readiness: readonly HealthCheck[];
}

export type HealthEndpoints = Readonly<Record<"healthz" | "livez" | "readyz", readonly HealthCheck[]>>;

/** `/metrics/slis`: names and labels of component-base/metrics/prometheus/slis v0.36.3. The gauge is evaluated at the scrape; the counter counts results of the health endpoints. */
export class HealthMetrics {
  /** Separate from `/metrics`: scraped more often. */
  readonly metrics = new Metrics();
  /** The checks, their results counted. */
  readonly endpoints: HealthEndpoints;

  constructor({ liveness, readiness }: Checks) {
    const endpoints = { healthz: liveness, livez: liveness, readyz: readiness };
    this.metrics.gauge({
      name: "kubernetes_healthcheck",
      help: "1: the check passes.",
      labels: ["name", "type"],
      collect: (gauge) => {
        for (const [type, checks] of Object.entries(endpoints)) {
          for (const check of checks) gauge.set({ name: check.name, type }, check.problem() === undefined ? 1 : 0);
        }
      },
    });
    const results = this.metrics.counter({
      name: "kubernetes_healthchecks_total",
      help: "Health checks that were run, by result.",
      labels: ["name", "type", "status"],
    });
    const counted = (type: keyof HealthEndpoints): readonly HealthCheck[] =>
      endpoints[type].map((check) => ({
        ...check,
        problem: () => {
          const problem = check.problem();
          results.inc({ name: check.name, type, status: problem === undefined ? "success" : "error" });
          return problem;
        },
      }));
    this.endpoints = { healthz: counted("healthz"), livez: counted("livez"), readyz: counted("readyz") };
  }
}

/** Consecutive panics; reached within half a minute. */
const FAILED_AFTER = 5;

/**
 * One check per controller, by canonical name as upstream. A controller that panics only warns: it restarts itself, and a new process
 * would interrupt the others. The check "controllers" fails when all of them panic, since the cause may be shared.
 */
export function controllerChecks(
  names: readonly string[],
  controllers: () => readonly SupervisedController[],
): readonly HealthCheck[] {
  return [
    ...names.map((name) => ({
      name,
      problem: () => undefined,
      warning: () => warningOf(controllers().find((controller) => controller.name === name)),
    })),
    { name: "controllers", problem: () => allPanic(controllers()) },
  ];
}

/** One check per informer: controllers need synced caches. */
export function informerChecks(informers: readonly NamedInformer[]): readonly HealthCheck[] {
  return informers.map(({ name, informer }) => ({
    name: `informer-${name}`,
    problem: () => {
      if (informer.hasSynced()) return undefined;
      const failure = informer.lastFailure();
      return `the cache of ${name} is not synced${failure === undefined ? "" : `: ${failure}`}`;
    },
  }));
}

/** One line about controllers that panicked. */
export function controllersSummary(controllers: readonly SupervisedController[]): string {
  const warnings = controllers.flatMap((controller) => {
    const warning = warningOf(controller);
    return warning === undefined ? [] : [`${controller.name}: ${warning}`];
  });
  return warnings.length === 0 ? "no panics" : warnings.join("; ");
}

function warningOf(controller: SupervisedController | undefined): string | undefined {
  if (controller?.state.kind !== "restarting") return undefined;
  const { atMs, error } = controller.state;
  return `panicked (${controller.panics} in a row), restarting at ${iso(atMs)}: ${messageOf(error)}`;
}

function allPanic(controllers: readonly SupervisedController[]): string | undefined {
  const active = controllers.filter(({ state }) => state.kind === "running" || state.kind === "restarting");
  const panics = active.every(({ state, panics }) => state.kind === "restarting" && panics >= FAILED_AFTER);
  if (active.length === 0 || !panics) return undefined;
  return `all controllers panic repeatedly: ${active.map(({ name }) => name).join(", ")}; a restart may help`;
}
