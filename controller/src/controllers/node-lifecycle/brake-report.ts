import type { Logger } from "../../telemetry/log.ts";
import type { NodeLifecycleMetrics } from "./metrics.ts";
import { type Brake, brakeMessage, isBraked } from "./guard/circuit-breaker.ts";

/** Tells metrics how far each provider's Nodes are from the brake, and the log when it takes hold and when it lets go. */
export class BrakeReport {
  readonly #metrics: NodeLifecycleMetrics;
  readonly #log: Logger;
  readonly #braked = new Set<string>();

  constructor(metrics: NodeLifecycleMetrics, log: Logger) {
    this.#metrics = metrics;
    this.#log = log;
  }

  see(provider: string, brake: Brake): void {
    const braked = isBraked(brake);
    this.#metrics.absentNodes.set({ provider }, brake.gone);
    this.#metrics.brake.set({ provider }, braked ? 1 : 0);
    if (braked === this.#braked.has(provider)) return;
    if (braked) {
      this.#braked.add(provider);
      const why = brakeMessage(provider, brake);
      this.#log.error(
        "Nodes are not deleted any more: too many would go at once; see docs/explanation/deletion-guard.md",
        { why },
      );
    } else {
      this.#braked.delete(provider);
      this.#log.info("Nodes may be deleted again", { provider, gone: brake.gone });
    }
  }
}
