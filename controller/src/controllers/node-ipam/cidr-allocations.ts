import type { Node } from "../../api/node.ts";
import { type Cidr, contains, parseCidr } from "../../util/cidr.ts";
import { deepEqual } from "../../util/equal.ts";
import type { CidrSet } from "./cidr-set.ts";
import type { NodeIpamMetrics } from "./metrics.ts";

export interface Allocation {
  readonly cidrs: readonly string[];
  /** The Node was seen with them. False: they are reserved, and a write may or may not have succeeded. */
  readonly isWritten: boolean;
}

export type Reservation =
  | { readonly kind: "reserved"; readonly cidrs: readonly string[] }
  | { readonly kind: "full"; readonly clusterCidr: string };

export interface AllocationConflict {
  readonly cidr: string;
  readonly message: string;
}

export interface CidrAllocationsDependencies {
  /** One for each cluster CIDR, in their order. */
  readonly sets: readonly CidrSet[];
  /** Never allocated: the CIDRs of Services. */
  readonly reserved: readonly Cidr[];
  readonly metrics: Omit<NodeIpamMetrics, "waiting">;
  readonly onFreed: () => void;
}

interface Entry extends Allocation {
  readonly parsed: readonly Cidr[];
}

/**
 * Allocates pod CIDRs to Nodes by UID. A reservation lasts until the Node is seen with other CIDRs or is deleted, even if the write fails:
 * a timeout or an outdated cache neither allocates a CIDR twice nor leaks one.
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

  of({ metadata }: Node): Allocation | undefined {
    return this.#entries.get(metadata.uid);
  }

  /** Reserves one block of each cluster CIDR for the Node, or none of any. Returns an existing reservation again. */
  reserve({ metadata }: Node): Reservation {
    const existing = this.#entries.get(metadata.uid);
    if (existing !== undefined) return { kind: "reserved", cidrs: existing.cidrs };
    const { sets } = this.#deps;
    const full = sets.find(({ isFull }) => isFull);
    if (full !== undefined) return { kind: "full", clusterCidr: full.cidr.text };
    const parsed = sets.flatMap((set) => this.#allocate(set) ?? []);
    const cidrs = parsed.map(({ text }) => text);
    this.#entries.set(metadata.uid, { parsed, cidrs, isWritten: false });
    return { kind: "reserved", cidrs };
  }

  /** Records the CIDRs of the Node. Returns the conflicts of new ones. */
  see({ metadata, spec }: Node): readonly AllocationConflict[] {
    const cidrs = spec.podCIDRs;
    // CIDRs are never removed from a Node: this is an outdated version of it, or the write is not finished.
    if (cidrs.length === 0) return [];
    const existing = this.#entries.get(metadata.uid);
    if (existing !== undefined && deepEqual(existing.cidrs, cidrs)) {
      this.#entries.set(metadata.uid, { ...existing, isWritten: true });
      return [];
    }
    if (existing !== undefined) this.#release(existing);
    const conflicts = cidrs.flatMap((cidr) => this.#conflictOf(cidr) ?? []);
    const parsed = cidrs.flatMap((cidr) => parseCidr(cidr) ?? []).filter((cidr) => !this.#isAll(cidr));
    for (const cidr of parsed) this.#occupy(cidr);
    this.#entries.set(metadata.uid, { parsed, cidrs, isWritten: true });
    return conflicts;
  }

  /** The reservation was written. A Node that was deleted in the meantime is ignored. */
  confirm(before: Node, now: Node): void {
    if (this.#entries.has(before.metadata.uid)) this.see(now);
  }

  forget({ metadata }: Node): void {
    const existing = this.#entries.get(metadata.uid);
    if (existing === undefined) return;
    this.#entries.delete(metadata.uid);
    this.#release(existing);
  }

  #conflictOf(cidr: string): AllocationConflict | undefined {
    const { sets } = this.#deps;
    const parsed = parseCidr(cidr);
    if (parsed === undefined) return { cidr, message: "is not a valid CIDR" };
    if (!sets.some((set) => set.overlaps(parsed))) return { cidr, message: "is outside of --cluster-cidr" };
    if (this.#isAll(parsed)) return { cidr, message: "contains a whole CIDR of --cluster-cidr and is not reserved" };
    if (!sets.some((set) => set.isInUse(parsed))) return undefined;
    return { cidr, message: "is also used by another Node or by Services" };
  }

  /** A kubelet can set it on its own Node, and no other Node would get a block. */
  #isAll(cidr: Cidr): boolean {
    return this.#deps.sets.some((set) => set.capacity > 1 && contains(cidr, set.cidr));
  }

  #allocate(set: CidrSet): Cidr | undefined {
    const { metrics } = this.#deps;
    const allocated = set.allocate();
    if (allocated === undefined) return undefined;
    const labels = { clusterCIDR: set.cidr.text };
    metrics.tries.observe(labels, allocated.passedOver);
    metrics.allocations.inc(labels);
    metrics.usage.set(labels, set.used / set.capacity);
    return allocated.cidr;
  }

  #occupy(cidr: Cidr): void {
    const { sets, metrics } = this.#deps;
    for (const set of sets) {
      const labels = { clusterCIDR: set.cidr.text };
      metrics.allocations.inc(labels, set.occupy(cidr));
      metrics.usage.set(labels, set.used / set.capacity);
    }
  }

  #release({ parsed }: Entry): void {
    const { sets, metrics, onFreed } = this.#deps;
    let freed = 0;
    for (const set of sets) {
      const labels = { clusterCIDR: set.cidr.text };
      const released = parsed.reduce((sum, cidr) => sum + set.release(cidr), 0);
      metrics.releases.inc(labels, released);
      metrics.usage.set(labels, set.used / set.capacity);
      freed += released;
    }
    if (freed > 0) onFreed();
  }
}
