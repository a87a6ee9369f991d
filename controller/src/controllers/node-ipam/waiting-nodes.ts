import type { Gauge } from "prom-client";

export interface WaitingNodesDependencies {
  readonly wake: (name: string) => void;
  readonly gauge: Pick<Gauge, "set">;
}

/** It is said again this often: events live for an hour. */
export const TELL_EVERY_MS = 300_000;

/** Nodes for which no range is free. Whatever comes free wakes them, those first that wait longest. */
export class WaitingNodes {
  readonly #deps: WaitingNodesDependencies;
  readonly #toldAtMs = new Map<string, number>();

  constructor(dependencies: WaitingNodesDependencies) {
    this.#deps = dependencies;
    dependencies.gauge.set(0);
  }

  /** Answers whether it is to be told. */
  add(name: string, monotonicMs: number): boolean {
    const toldAtMs = this.#toldAtMs.get(name);
    if (toldAtMs !== undefined && monotonicMs - toldAtMs < TELL_EVERY_MS) return false;
    this.#toldAtMs.set(name, monotonicMs);
    this.#deps.gauge.set(this.#toldAtMs.size);
    return true;
  }

  delete(name: string): void {
    this.#toldAtMs.delete(name);
    this.#deps.gauge.set(this.#toldAtMs.size);
  }

  /** A block came free. */
  wakeAll(): void {
    for (const name of this.#toldAtMs.keys()) this.#deps.wake(name);
  }
}
