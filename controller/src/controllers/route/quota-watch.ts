import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import type { RouteQuota } from "../../provider/model/route.ts";
import type { Logger } from "../../telemetry/log.ts";
import { routeTableFull, routeTableNearlyFull } from "./events.ts";
import type { RouteMetrics } from "./metrics.ts";

export interface QuotaWatchDependencies {
  readonly metrics: RouteMetrics;
  readonly events: EventRecorder;
  readonly log: Logger;
}

const WARN_PERCENT = 80;

/** By severity. */
const LEVELS = ["roomy", "nearlyFull", "full"] as const;

export type QuotaLevel = (typeof LEVELS)[number];

export function quotaLevel({ limit, used }: RouteQuota): QuotaLevel {
  if (used >= limit) return "full";
  return used * 100 >= limit * WARN_PERCENT ? "nearlyFull" : "roomy";
}

/** Reports how full each provider's route table is, and warns once when it fills up. */
export class QuotaWatch {
  readonly #deps: QuotaWatchDependencies;
  readonly #levels = new Map<string, QuotaLevel>();

  constructor(dependencies: QuotaWatchDependencies) {
    this.#deps = dependencies;
  }

  /** undefined: the provider does not report a quota. */
  observe(provider: string, quota: RouteQuota | undefined): void {
    if (quota === undefined) return;
    const { metrics, events, log } = this.#deps;
    metrics.quotaLimit.set({ provider }, quota.limit);
    metrics.quotaUsed.set({ provider }, quota.used);
    const level = quotaLevel(quota);
    const before = this.#levels.get(provider) ?? "roomy";
    this.#levels.set(provider, level);
    if (LEVELS.indexOf(level) <= LEVELS.indexOf(before)) return;
    const isFull = level === "full";
    events.record(isFull ? routeTableFull(provider, quota) : routeTableNearlyFull(provider, quota, WARN_PERCENT));
    log.warn("Route table of the cloud is filling up", { provider, state: level, ...quota });
  }
}

/** Nodes without a route because the table is full or their CIDR is in use. Any removal may be what they wait for. */
export class WaitingNodes {
  readonly #names = new Set<string>();
  readonly #wake: (name: string) => void;
  #removals = 0;

  constructor(wake: (name: string) => void) {
    this.#wake = wake;
  }

  get removals(): number {
    return this.#removals;
  }

  /** @param since {@link removals} before the attempt. If it has changed, the Node is enqueued immediately. */
  add(name: string, since: number): void {
    if (since === this.#removals) this.#names.add(name);
    else this.#wake(name);
  }

  delete(name: string): void {
    this.#names.delete(name);
  }

  wakeAll(): void {
    this.#removals++;
    const names = [...this.#names];
    this.#names.clear();
    for (const name of names) this.#wake(name);
  }
}
