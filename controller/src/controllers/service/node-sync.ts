import type { Clock } from "../../util/clock.ts";
import type { ServiceMetrics } from "./metrics.ts";

export interface NodeSyncDependencies {
  readonly metrics: Pick<ServiceMetrics, "nodeSyncLatencySeconds">;
  readonly clock: Clock;
}

/** Measures how long a change of nodes takes to reach the last load balancer: one sample a pass, passes without work too, as upstream. */
export class NodeSync {
  readonly #deps: NodeSyncDependencies;
  readonly #waiting = new Set<string>();
  #startMs = 0;

  constructor(dependencies: NodeSyncDependencies) {
    this.#deps = dependencies;
  }

  /** A pass found that these Services need the new nodes. One that overtakes another goes on measuring from the earlier start. */
  begin(keys: Iterable<string>): void {
    if (this.#waiting.size === 0) this.#startMs = this.#deps.clock.monotonicMs();
    for (const key of keys) this.#waiting.add(key);
    if (this.#waiting.size === 0) this.#observe();
  }

  /** The Service was tried, with whatever result. */
  tried(key: string): void {
    if (this.#waiting.delete(key) && this.#waiting.size === 0) this.#observe();
  }

  #observe(): void {
    const { metrics, clock } = this.#deps;
    metrics.nodeSyncLatencySeconds.observe((clock.monotonicMs() - this.#startMs) / 1000);
  }
}
