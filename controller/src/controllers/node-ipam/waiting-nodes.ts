import type { Gauge } from "prom-client";
import type { Node } from "../../api/node.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { AllocationConflict } from "./cidr-allocations.ts";

export interface WaitingNodesDependencies {
  readonly wake: (name: string) => void;
  readonly gauge: Pick<Gauge, "set">;
}

/** Reported again, because events expire after an hour. */
export const REPORT_EVERY_MS = 300_000;

/** Nodes for which no CIDR is free. A free block enqueues them, the longest waiting first. */
export class WaitingNodes {
  readonly #deps: WaitingNodesDependencies;
  readonly #reportedAtMs = new Map<string, number>();

  constructor(dependencies: WaitingNodesDependencies) {
    this.#deps = dependencies;
    dependencies.gauge.set(0);
  }

  /** Returns whether to report it. */
  add(name: string, monotonicMs: number): boolean {
    const reportedAtMs = this.#reportedAtMs.get(name);
    if (reportedAtMs !== undefined && monotonicMs - reportedAtMs < REPORT_EVERY_MS) return false;
    this.#reportedAtMs.set(name, monotonicMs);
    this.#deps.gauge.set(this.#reportedAtMs.size);
    return true;
  }

  delete(name: string): void {
    this.#reportedAtMs.delete(name);
    this.#deps.gauge.set(this.#reportedAtMs.size);
  }

  wakeAll(): void {
    for (const name of this.#reportedAtMs.keys()) this.#deps.wake(name);
  }
}

const MAX_EXAMPLES = 5;

/** Logs conflicts: one by one, but grouped at the start, because thousands of Nodes may have CIDRs from before a change of the cluster CIDR. */
export class AllocationConflictLog {
  readonly #log: Logger;
  #atStart: Map<string, string[]> | undefined = new Map();

  constructor(log: Logger) {
    this.#log = log;
  }

  add({ metadata: { name } }: Node, { cidr, message }: AllocationConflict): void {
    if (this.#atStart === undefined) {
      this.#log.warn("Node has an unexpected pod CIDR", { node: name, podCIDR: cidr, detail: message });
      return;
    }
    const alike = this.#atStart.get(message) ?? [];
    alike.push(`${name} ${cidr}`);
    this.#atStart.set(message, alike);
  }

  startDone(): void {
    for (const [detail, all] of this.#atStart ?? []) {
      const examples = all.slice(0, MAX_EXAMPLES);
      this.#log.warn("Nodes have unexpected pod CIDRs", { detail, count: all.length, examples });
    }
    this.#atStart = undefined;
  }
}
