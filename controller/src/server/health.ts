import type { Counter } from "prom-client";
import type { NamedInformer } from "../kube/cluster.ts";
import type { SupervisedController } from "../runtime/supervised-controller.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { messageOf } from "../util/errors.ts";
import { iso } from "../util/text.ts";

/** What keeps the process from being healthy or ready, check by check. */
export interface HealthCheck {
  /** Name in `?verbose` and in `/readyz/<name>`. */
  readonly name: string;
  /** undefined: good. Otherwise one line: what is wrong, where, and what to do. Answers at once, from memory. */
  problem(): string | undefined;
  /** What an operator should know all the same, for `?verbose`; one line. @default nothing */
  warning?(): string | undefined;
}

export interface HealthReport {
  readonly healthy: boolean;
  /** One line a check, as the API server writes them: `[+]name ok`, `[-]name failed: why`; ours: `[+]name ok, but: warning`. */
  readonly text: string;
}

/** Whether a page says why: one that everybody may read does not, as the API server's. */
export type Reasons = "shown" | "withheld";

/** Runs `checks`, leaving out those named in `excluded`. */
export function report(
  endpoint: string,
  checks: readonly HealthCheck[],
  excluded: readonly string[],
  reasons: Reasons = "shown",
): HealthReport {
  const results = checks
    .filter(({ name }) => !excluded.includes(name))
    .map((check) => ({ name: check.name, wrong: check.problem(), warning: check.warning?.() }));
  const healthy = results.every(({ wrong }) => wrong === undefined);
  const lines = results.map(({ name, wrong, warning }) => {
    if (wrong !== undefined) return `[-]${name} failed: ${reasons === "shown" ? wrong : "reason withheld"}`;
    return warning === undefined || reasons === "withheld" ? `[+]${name} ok` : `[+]${name} ok, but: ${warning}`;
  });
  const unknown = excluded.filter((name) => !checks.some((check) => check.name === name));
  const warning = unknown.length > 0 ? [`warn: no such check: ${unknown.join(", ")}`] : [];
  return { healthy, text: [...lines, ...warning, `${endpoint} check ${healthy ? "passed" : "failed"}`, ""].join("\n") };
}

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
      help: "Health checks that were run, by result.",
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

/** So many in a row are no accident; reached within half a minute. */
const BROKEN_AFTER = 5;

/**
 * One check a controller, by canonical name as upstream has them. A broken one is told and fails none: a new process would do no more
 * for it than its own restart does, and would take the others down. Only when all are broken is what they share suspected, and a new
 * process wanted.
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
    { name: "controllers", problem: () => allBroken(controllers()) },
  ];
}

/** One check an informer: nothing can be decided before all objects are read. */
export function informerChecks(informers: readonly NamedInformer[]): readonly HealthCheck[] {
  return informers.map(({ name, informer }) => ({
    name: `informer-${name}`,
    problem: () => {
      if (informer.hasSynced()) return undefined;
      return `${name} are not read yet${informer.lastFailure() === undefined ? "" : `: ${informer.lastFailure()}`}`;
    },
  }));
}

/** A line about those that are broken, for people. */
export function controllersSummary(controllers: readonly SupervisedController[]): string {
  const troubled = controllers.flatMap((controller) => {
    const warning = warningOf(controller);
    return warning === undefined ? [] : [`${controller.name}: ${warning}`];
  });
  return troubled.length === 0 ? "no faults" : troubled.join("; ");
}

function warningOf(controller: SupervisedController | undefined): string | undefined {
  if (controller?.state.kind !== "restarting") return undefined;
  const { atMs, error } = controller.state;
  return `broke (fault ${controller.faults} in a row) and starts again at ${iso(atMs)}: ${messageOf(error)}`;
}

function allBroken(controllers: readonly SupervisedController[]): string | undefined {
  const active = controllers.filter(({ state }) => state.kind === "running" || state.kind === "restarting");
  const isBroken = ({ state, faults }: SupervisedController): boolean =>
    state.kind === "restarting" && faults >= BROKEN_AFTER;
  if (active.length === 0 || !active.every((controller) => isBroken(controller))) return undefined;
  return `all controllers break again and again: ${active.map(({ name }) => name).join(", ")}; a new process may help`;
}
