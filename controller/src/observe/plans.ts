import { createHash } from "node:crypto";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clock } from "../util/clock.ts";

export interface Planned {
  readonly controller: string;
  readonly key: string;
  readonly provider: string;
  readonly writes: readonly PlannedWrite[];
}

export interface Plan extends Planned {
  /** The same for the same plan. */
  readonly digest: string;
  readonly sinceMs: number;
}

export interface PlansDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const ACTIONS: readonly WriteAction[] = ["create", "update", "delete"];

/** Planned writes by controller and key, from the last reconcile of each. */
export class Plans {
  readonly #deps: PlansDependencies;
  readonly #plans = new Map<string, Plan>();
  readonly #failed = new Map<string, Omit<Planned, "writes">>();

  constructor(dependencies: PlansDependencies) {
    this.#deps = dependencies;
    exposePlans(dependencies.metrics, this);
  }

  get all(): readonly Plan[] {
    return [...this.#plans.values()].toSorted((one, other) => one.sinceMs - other.sinceMs);
  }

  get failedKeys(): readonly Omit<Planned, "writes">[] {
    return [...this.#failed.values()];
  }

  /** A reconcile ended, or stopped at its first write. Logged if the plan has changed. */
  settle(planned: Planned): void {
    const { controller, key, provider, writes } = planned;
    const { log, clock } = this.#deps;
    const id = idOf(planned);
    const before = this.#plans.get(id);
    this.#failed.delete(id);
    if (writes.length === 0) {
      if (!this.#plans.delete(id)) return;
      return log.info("No pending writes in observe mode", { controller, key, provider });
    }
    const digest = digestOf(writes);
    const isSame = before?.digest === digest;
    this.#plans.set(id, { ...planned, digest, sinceMs: isSame ? before.sinceMs : clock.nowMs() });
    if (isSame) return;
    log.info("Pending writes in observe mode", { controller, key, provider, writes: writes.map(summaryOf) });
  }

  failed(planned: Omit<Planned, "writes">): void {
    this.#failed.set(idOf(planned), planned);
  }
}

export function exposePlans(metrics: Metrics, plans: Pick<Plans, "all" | "failedKeys">): void {
  metrics.gauge({
    name: "cloudwire_pending_writes",
    help: "Writes that observe mode (--mode) does not make, by action. If all are 0, a cutover changes nothing.",
    labels: ["controller", "provider", "action"],
    collect: (gauge) => {
      gauge.reset();
      for (const { controller, provider, writes } of plans.all) {
        for (const action of ACTIONS) {
          const count = writes.filter((write) => actionOf(write) === action).length;
          gauge.inc({ controller, provider, action }, count);
        }
      }
    },
  });
  metrics.gauge({
    name: "cloudwire_plan_failed_keys",
    help: "Keys in observe mode (--mode) whose last reconcile failed, so that their plan is unknown.",
    labels: ["controller", "provider"],
    collect: (gauge) => {
      gauge.reset();
      for (const { controller, provider } of plans.failedKeys) gauge.inc({ controller, provider });
    },
  });
}

function idOf({ controller, key }: Pick<Planned, "controller" | "key">): string {
  return `${controller}\0${key}`;
}

/** A changed field. Values are those of Kubernetes' JSON; undefined: absent. */
export interface FieldChange {
  /** `metadata.labels["example.com/a"]`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** A write that was not made. */
export type PlannedWrite =
  | {
      readonly target: "kubernetes";
      readonly verb: "create" | "update" | "patch" | "delete";
      /** Plural with subresource: `services/status`. */
      readonly resource: string;
      /** `namespace/name`, or `name`. */
      readonly object: string;
      readonly fields: readonly FieldChange[];
    }
  | {
      readonly target: "provider";
      /** The operator's name. */
      readonly provider: string;
      readonly method: string;
      readonly trigger: string;
      /** Changes that the provider reports. */
      readonly changes: readonly string[];
      /** False: the provider cannot predict the changes, and the call may change nothing. */
      readonly isChecked: boolean;
    };

/**
 * `create`: an object, a field or a label is new, nothing that exists changes. `update`: a value changes, or the effect is unknown. `delete`: an
 * object or a value is removed.
 */
export type WriteAction = "create" | "update" | "delete";

export function actionOf(write: PlannedWrite): WriteAction {
  if (write.target === "provider") return "update";
  if (write.verb === "delete") return "delete";
  if (write.verb === "create") return "create";
  if (write.fields.some(({ after }) => after === undefined)) return "delete";
  return write.fields.length > 0 && write.fields.every(({ before }) => before === undefined) ? "create" : "update";
}

export function summaryOf(write: PlannedWrite): string {
  if (write.target === "provider") {
    const { provider, method, trigger, changes, isChecked } = write;
    const what = changes.length === 0 ? (isChecked ? "" : ": the provider cannot predict the changes") : ": ";
    return `${provider} ${method}${trigger === "" ? "" : ` (${trigger})`}${what}${changes.join("; ")}`;
  }
  const { verb, resource, object, fields } = write;
  const paths = fields.map(({ path }) => path).join(", ");
  return `${verb} ${resource} ${object}${paths === "" ? "" : `: ${paths}`}`;
}

/** Equal plans have equal digests: times are ignored. */
export function digestOf(writes: readonly PlannedWrite[]): string {
  const text = JSON.stringify(writes, (key, value: unknown) => (TIME_FIELD.test(key) ? undefined : value));
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** `lastTransitionTime` and similar times change only together with other fields. */
export const TIME_FIELD = /Time$/;

export function reporter(
  plans: Plans,
  controller: string,
): (key: string, provider: string, writes: readonly PlannedWrite[] | undefined) => void {
  return (key, provider, writes) => {
    if (writes === undefined) plans.failed({ controller, key, provider });
    else plans.settle({ controller, key, provider, writes });
  };
}
