import { createHash } from "node:crypto";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clock } from "../util/clock.ts";

/** What one reconcile came to. */
export interface Planned {
  readonly controller: string;
  readonly key: string;
  /** Whose the key is; "": nobody's. */
  readonly provider: string;
  /** Empty: everything is as wished. */
  readonly writes: readonly PlannedWrite[];
}

/** What is to be written of one key, and is not. */
export interface Plan extends Planned {
  /** The same for the same plan. */
  readonly digest: string;
  /** Since when it is this plan, wall clock. */
  readonly sinceMs: number;
}

export interface PlansDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const ACTIONS: readonly WriteAction[] = ["create", "update", "delete"];

/** What would be written, by controller and key, as the last reconcile of each has it. */
export class Plans {
  readonly #deps: PlansDependencies;
  readonly #plans = new Map<string, Plan>();
  /** Keys whose last reconcile failed: what they would write is not known. */
  readonly #undecided = new Map<string, Omit<Planned, "writes">>();

  constructor(dependencies: PlansDependencies) {
    this.#deps = dependencies;
    exposePlans(dependencies.metrics, this);
  }

  /** Oldest first. */
  get all(): readonly Plan[] {
    return [...this.#plans.values()].toSorted((one, other) => one.sinceMs - other.sinceMs);
  }

  get failedKeys(): readonly Omit<Planned, "writes">[] {
    return [...this.#undecided.values()];
  }

  /** A reconcile has come to its end, or to its first write. Said in the log when it is another plan than before. */
  settle(planned: Planned): void {
    const { controller, key, provider, writes } = planned;
    const { log, clock } = this.#deps;
    const id = idOf(planned);
    const before = this.#plans.get(id);
    this.#undecided.delete(id);
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

  /** A reconcile has failed. What it planned before, if it did, stays. */
  failed(planned: Omit<Planned, "writes">): void {
    this.#undecided.set(idOf(planned), planned);
  }
}

/** Makes the metrics of what is observed. */
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

/** One field that a write would change. Values are those of Kubernetes' JSON; undefined: there is none. */
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
      /** Plural, with its subresource: `services/status`. */
      readonly resource: string;
      /** `namespace/name`, or `name`. */
      readonly object: string;
      readonly fields: readonly FieldChange[];
    }
  | {
      readonly target: "provider";
      /** The operator's name. */
      readonly provider: string;
      /** Name of the RPC. */
      readonly method: string;
      /** Why, as audit logs have it. */
      readonly trigger: string;
      /** What the provider says that it would do. */
      readonly changes: readonly string[];
      /** False: it cannot tell, so that the call may come to nothing. */
      readonly isChecked: boolean;
    };

/**
 * `create`: an object, a field or a label is new, nothing that exists changes. `update`: a value changes, or the effect is unknown. `delete`: an
 * object or a value is removed.
 */
export type WriteAction = "create" | "update" | "delete";

/** The worst of what it does. */
export function actionOf(write: PlannedWrite): WriteAction {
  if (write.target === "provider") return "update";
  if (write.verb === "delete") return "delete";
  if (write.verb === "create") return "create";
  if (write.fields.some(({ after }) => after === undefined)) return "delete";
  return write.fields.length > 0 && write.fields.every(({ before }) => before === undefined) ? "create" : "update";
}

/** One line for people. */
export function summaryOf(write: PlannedWrite): string {
  if (write.target === "provider") {
    const { provider, method, trigger, changes, isChecked } = write;
    const what = changes.length === 0 ? (isChecked ? "" : ": the provider cannot tell what would change") : ": ";
    return `${provider} ${method}${trigger === "" ? "" : ` (${trigger})`}${what}${changes.join("; ")}`;
  }
  const { verb, resource, object, fields } = write;
  const paths = fields.map(({ path }) => path).join(", ");
  return `${verb} ${resource} ${object}${paths === "" ? "" : `: ${paths}`}`;
}

/** The same for the same plan, whenever it is made: times in it do not count. */
export function digestOf(writes: readonly PlannedWrite[]): string {
  const text = JSON.stringify(writes, (key, value: unknown) => (TIME_FIELD.test(key) ? undefined : value));
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** `lastTransitionTime` and its like: times of a condition go with what else of it changes, and are no change by themselves. */
export const TIME_FIELD = /Time$/;

/** Reports what the reconciles of a controller come to. */
export function reporter(
  plans: Plans,
  controller: string,
): (key: string, provider: string, writes: readonly PlannedWrite[] | undefined) => void {
  return (key, provider, writes) => {
    if (writes === undefined) plans.failed({ controller, key, provider });
    else plans.settle({ controller, key, provider, writes });
  };
}
