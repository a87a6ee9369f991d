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

export type QuotaLevel = "roomy" | "nearlyFull" | "full";

/** The share of the table from which on operators are warned. */
const WARN_PERCENT = 80;

export function quotaLevel({ limit, used }: RouteQuota): QuotaLevel {
  if (used >= limit) return "full";
  return used * 100 >= limit * WARN_PERCENT ? "nearlyFull" : "roomy";
}

const RANK: Readonly<Record<QuotaLevel, number>> = { roomy: 0, nearlyFull: 1, full: 2 };

/** Follows how full each provider's route table is, and says once when it fills up. */
export class QuotaWatch {
  readonly #deps: QuotaWatchDependencies;
  readonly #levels = new Map<string, QuotaLevel>();

  constructor(dependencies: QuotaWatchDependencies) {
    this.#deps = dependencies;
  }

  /** What an answer of the provider said; undefined: it did not say. */
  observe(provider: string, quota: RouteQuota | undefined): void {
    if (quota === undefined) return;
    const { metrics } = this.#deps;
    metrics.quotaLimit.set({ provider }, quota.limit);
    metrics.quotaUsed.set({ provider }, quota.used);
    const level = quotaLevel(quota);
    const before = this.#levels.get(provider) ?? "roomy";
    this.#levels.set(provider, level);
    if (RANK[level] > RANK[before]) this.#warn(provider, level, quota);
  }

  #warn(provider: string, level: QuotaLevel, quota: RouteQuota): void {
    const { events, log } = this.#deps;
    const event =
      level === "full" ? routeTableFull(provider, quota) : routeTableNearlyFull(provider, quota, WARN_PERCENT);
    events.record(event);
    log.warn("Route table of the cloud is filling up", { provider, state: level, ...quota });
  }
}

/** Nodes without route because the table is full or their range is taken: whatever is removed may be what they wait for. */
export class WaitingNodes {
  readonly #names = new Set<string>();
  readonly #wake: (name: string) => void;
  #removals = 0;

  constructor(wake: (name: string) => void) {
    this.#wake = wake;
  }

  /** How often something was removed so far. */
  get removals(): number {
    return this.#removals;
  }

  /** @param since {@link removals} before the Node was tried: it may wait for what was removed meanwhile, and is woken at once */
  add(name: string, since: number): void {
    if (since === this.#removals) this.#names.add(name);
    else this.#wake(name);
  }

  delete(name: string): void {
    this.#names.delete(name);
  }

  /** Something was removed. */
  wakeAll(): void {
    this.#removals++;
    const names = [...this.#names];
    this.#names.clear();
    for (const name of names) this.#wake(name);
  }
}
