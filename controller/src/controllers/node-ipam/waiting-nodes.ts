import type { Gauge } from "prom-client";
import type { Node } from "../../api/node.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { AllocationConflict } from "./cidr-allocations.ts";

export interface WaitingNodesDependencies {
  readonly wake: (name: string) => void;
  readonly gauge: Pick<Gauge, "set">;
}

/** It is said again this often: events live for an hour. */
export const REPORT_EVERY_MS = 300_000;

/** Nodes for which no range is free. Whatever comes free wakes them, those first that wait longest. */
export class WaitingNodes {
  readonly #deps: WaitingNodesDependencies;
  readonly #reportedAtMs = new Map<string, number>();

  constructor(dependencies: WaitingNodesDependencies) {
    this.#deps = dependencies;
    dependencies.gauge.set(0);
  }

  /** Answers whether it is to be told. */
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

  /** A block came free. */
  wakeAll(): void {
    for (const name of this.#reportedAtMs.keys()) this.#deps.wake(name);
  }
}

const MAX_EXAMPLES = 5;

/**
 * Tells of ranges that cannot be kept account of as they should: one by one, but together at the start, for thousands of Nodes may have
 * ranges from before a move of the cluster's.
 */
export class AllocationConflictLog {
  readonly #log: Logger;
  #atStart: Map<string, string[]> | undefined = new Map();

  constructor(log: Logger) {
    this.#log = log;
  }

  add({ metadata: { name } }: Node, { range, what }: AllocationConflict): void {
    if (this.#atStart === undefined) {
      this.#log.warn("Node has an unexpected pod CIDR", { node: name, podCIDR: range, detail: what });
      return;
    }
    const alike = this.#atStart.get(what) ?? [];
    alike.push(`${name} ${range}`);
    this.#atStart.set(what, alike);
  }

  /** Tells what has come up so far. */
  startDone(): void {
    for (const [what, all] of this.#atStart ?? []) {
      const examples = all.slice(0, MAX_EXAMPLES);
      this.#log.warn("Nodes have unexpected pod CIDRs", { detail: what, count: all.length, examples });
    }
    this.#atStart = undefined;
  }
}
