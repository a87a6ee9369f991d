import type { Node } from "../../api/node.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Oddity } from "./cidr-allocations.ts";

const MAX_EXAMPLES = 5;

/**
 * Tells of ranges that cannot be kept account of as they should: one by one, but together at the start, for thousands of Nodes may have
 * ranges from before a move of the cluster's.
 */
export class OddityLog {
  readonly #log: Logger;
  #atStart: Map<string, string[]> | undefined = new Map();

  constructor(log: Logger) {
    this.#log = log;
  }

  add({ metadata: { name } }: Node, { range, what }: Oddity): void {
    if (this.#atStart === undefined) {
      this.#log.warn("A pod range of the node is odd; it is left as it is", { node: name, range, what });
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
      this.#log.warn("Pod ranges of nodes are odd; they are left as they are", { what, count: all.length, examples });
    }
    this.#atStart = undefined;
  }
}
