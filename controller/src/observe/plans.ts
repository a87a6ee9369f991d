import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clock } from "../util/clock.ts";
import { digestOf, type Effect, effectOf, type PlannedWrite, summaryOf } from "./planned-write.ts";

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

const EFFECTS: readonly Effect[] = ["addition", "change", "removal"];

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

  get undecided(): readonly Omit<Planned, "writes">[] {
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
      return log.info("Nothing would be written any more", { controller, key, provider });
    }
    const digest = digestOf(writes);
    const isSame = before?.digest === digest;
    this.#plans.set(id, { ...planned, digest, sinceMs: isSame ? before.sinceMs : clock.nowMs() });
    if (isSame) return;
    log.info("Would be written, and is not: observed", { controller, key, provider, writes: writes.map(summaryOf) });
  }

  /** A reconcile has failed. What it planned before, if it did, stays. */
  failed(planned: Omit<Planned, "writes">): void {
    this.#undecided.set(idOf(planned), planned);
  }
}

/** Makes the metrics of what is observed. */
export function exposePlans(metrics: Metrics, plans: Pick<Plans, "all" | "undecided">): void {
  metrics.gauge({
    name: "cloudwire_pending_writes",
    help: "Writes that would be made of what is observed (--mode), by what they do to what is there. 0 everywhere: a hand-over changes nothing.",
    labels: ["controller", "provider", "effect"],
    collect: (gauge) => {
      gauge.reset();
      for (const { controller, provider, writes } of plans.all) {
        for (const effect of EFFECTS) {
          const count = writes.filter((write) => effectOf(write) === effect).length;
          gauge.inc({ controller, provider, effect }, count);
        }
      }
    },
  });
  metrics.gauge({
    name: "cloudwire_undecided_keys",
    help: "Keys of what is observed (--mode) whose last reconcile failed, so that it is not known what would be written.",
    labels: ["controller", "provider"],
    collect: (gauge) => {
      gauge.reset();
      for (const { controller, provider } of plans.undecided) gauge.inc({ controller, provider });
    },
  });
}

function idOf({ controller, key }: Pick<Planned, "controller" | "key">): string {
  return `${controller}\0${key}`;
}
