import type { Node } from "../../api/node.ts";
import { type Cidr, parseCidr } from "../../util/cidr.ts";
import type { CidrSet } from "./cidr-set.ts";
import type { NodeIpamMetrics } from "./metrics.ts";

/** What one Node has, or is to get. */
export interface Allocation {
  readonly ranges: readonly string[];
  /** The Node was seen with them. False: they are set aside for it, and a write may have gone through or not. */
  readonly isWritten: boolean;
}

/** What came of asking for ranges. */
export type Reservation =
  | { readonly kind: "held"; readonly ranges: readonly string[] }
  | { readonly kind: "full"; readonly clusterCidr: string };

/** A range of a Node that cannot be kept account of as it should. */
export interface AllocationConflict {
  readonly range: string;
  readonly what: string;
}

export interface CidrAllocationsDependencies {
  /** One for each cluster range, in their order. */
  readonly sets: readonly CidrSet[];
  /** Never handed out: the ranges of Services. */
  readonly reserved: readonly Cidr[];
  readonly metrics: Omit<NodeIpamMetrics, "waiting">;
  /** A block came free. */
  readonly onFreed: () => void;
}

interface Entry extends Allocation {
  readonly cidrs: readonly Cidr[];
}

/**
 * Which Node holds which ranges. What is set aside for a Node stays its own until it is seen with others or is gone, whatever becomes
 * of writing it: so no range is handed out twice because a write timed out or a cache lags, and none is lost. A Node is its UID:
 * another one of the same name is another Node.
 */
export class CidrAllocations {
  readonly #deps: CidrAllocationsDependencies;
  readonly #entries = new Map<string, Entry>();

  constructor(dependencies: CidrAllocationsDependencies) {
    this.#deps = dependencies;
    const { sets, reserved, metrics } = dependencies;
    for (const { cidr, capacity } of sets) metrics.capacity.set({ clusterCIDR: cidr.text }, capacity);
    for (const cidr of reserved) this.#occupy(cidr);
  }

  /** What the Node holds; undefined: nothing. */
  of({ metadata }: Node): Allocation | undefined {
    return this.#entries.get(metadata.uid);
  }

  /** Sets one block of each cluster range aside for the Node, or none of any. What is set aside already is answered again. */
  reserve({ metadata }: Node): Reservation {
    const held = this.#entries.get(metadata.uid);
    if (held !== undefined) return { kind: "held", ranges: held.ranges };
    const { sets } = this.#deps;
    const full = sets.find(({ isFull }) => isFull);
    if (full !== undefined) return { kind: "full", clusterCidr: full.cidr.text };
    const cidrs = sets.flatMap((set) => this.#allocate(set) ?? []);
    const ranges = cidrs.map(({ text }) => text);
    this.#entries.set(metadata.uid, { cidrs, ranges, isWritten: false });
    return { kind: "held", ranges };
  }

  /** The Node was seen as it is. Answers what is odd about ranges that were not known of it. */
  see({ metadata, spec }: Node): readonly AllocationConflict[] {
    const ranges = spec.podCIDRs;
    // Ranges are never taken off a Node: this is an older view of it, or a write that is still on its way.
    if (ranges.length === 0) return [];
    const held = this.#entries.get(metadata.uid);
    if (held !== undefined && isSame(held.ranges, ranges)) {
      this.#entries.set(metadata.uid, { ...held, isWritten: true });
      return [];
    }
    if (held !== undefined) this.#release(held);
    const read = ranges.map((range) => ({ range, cidr: parseCidr(range) }));
    const conflicts = read.flatMap(({ range, cidr }) => this.#conflictOf(range, cidr) ?? []);
    const cidrs = read.flatMap(({ cidr }) => cidr ?? []);
    for (const cidr of cidrs) this.#occupy(cidr);
    this.#entries.set(metadata.uid, { cidrs, ranges, isWritten: true });
    return conflicts;
  }

  /** What was set aside was written. Not so for a Node that is gone meanwhile. */
  confirm(before: Node, now: Node): void {
    if (this.#entries.has(before.metadata.uid)) this.see(now);
  }

  /** The Node is gone. */
  forget({ metadata }: Node): void {
    const held = this.#entries.get(metadata.uid);
    if (held === undefined) return;
    this.#entries.delete(metadata.uid);
    this.#release(held);
  }

  #conflictOf(range: string, cidr: Cidr | undefined): AllocationConflict | undefined {
    const { sets } = this.#deps;
    if (cidr === undefined) return { range, what: "is no range" };
    if (!sets.some((set) => set.overlaps(cidr))) return { range, what: "is outside of --cluster-cidr" };
    if (sets.some((set) => set.isInUse(cidr))) return { range, what: "is another Node's as well, or a Service's" };
    return undefined;
  }

  #allocate(set: CidrSet): Cidr | undefined {
    const { metrics } = this.#deps;
    const allocation = set.allocate();
    if (allocation === undefined) return undefined;
    const labels = { clusterCIDR: set.cidr.text };
    metrics.tries.observe(labels, allocation.passedOver);
    metrics.allocations.inc(labels);
    metrics.usage.set(labels, set.used / set.capacity);
    return allocation.cidr;
  }

  #occupy(cidr: Cidr): void {
    const { sets, metrics } = this.#deps;
    for (const set of sets) {
      const labels = { clusterCIDR: set.cidr.text };
      metrics.allocations.inc(labels, set.occupy(cidr));
      metrics.usage.set(labels, set.used / set.capacity);
    }
  }

  #release({ cidrs }: Entry): void {
    const { sets, metrics, onFreed } = this.#deps;
    let freed = 0;
    for (const set of sets) {
      const labels = { clusterCIDR: set.cidr.text };
      const released = cidrs.reduce((sum, cidr) => sum + set.release(cidr), 0);
      metrics.releases.inc(labels, released);
      metrics.usage.set(labels, set.used / set.capacity);
      freed += released;
    }
    if (freed > 0) onFreed();
  }
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((range, index) => range === right[index]);
}
