import { isDeepStrictEqual } from "node:util";
import type { NodesDiff, TargetNode } from "../definition/requests.ts";
import { LruMap } from "./lru.ts";

/** Nodes that a load balancer was last given with success. */
export interface NodeList {
  readonly fingerprint: string;
  readonly nodes: readonly TargetNode[];
}

/** Most load balancers remembered; beyond it a node change costs one full list again. */
const maxLoadBalancers = 10_000;

/** Remembers the nodes of each load balancer, for `unchanged` and for differences. Equal lists are kept once. */
export class AcknowledgedNodes {
  readonly #byKey: LruMap<NodeList>;
  /** By fingerprint; the load balancers keep them alive. */
  readonly #lists = new Map<string, WeakRef<NodeList>>();
  /** By the list before: many load balancers go from one list to the same other, and lists are kept once. */
  readonly #diffs = new WeakMap<
    readonly TargetNode[],
    { readonly after: readonly TargetNode[]; readonly diff: NodesDiff }
  >();
  readonly #gone = new FinalizationRegistry<string>((fingerprint) => {
    if (this.#lists.get(fingerprint)?.deref() === undefined) this.#lists.delete(fingerprint);
  });

  constructor(nowMs: () => number) {
    this.#byKey = new LruMap({ maxEntries: maxLoadBalancers, nowMs });
  }

  /** The nodes of a load balancer, if they are known. */
  get(key: string): NodeList | undefined {
    return this.#byKey.get(key);
  }

  set(key: string, list: NodeList): void {
    const known = this.#lists.get(list.fingerprint)?.deref();
    if (known && known.nodes.length === list.nodes.length) {
      this.#byKey.set(key, known);
      return;
    }
    this.#lists.set(list.fingerprint, new WeakRef(list));
    this.#gone.register(list, list.fingerprint);
    this.#byKey.set(key, list);
  }

  /** What distinguishes these nodes from those that a load balancer has; undefined: they are not known. */
  diff(key: string, after: readonly TargetNode[]): NodesDiff | undefined {
    const before = this.#byKey.get(key)?.nodes;
    if (before === undefined) return undefined;
    const known = this.#diffs.get(before);
    if (known?.after === after) return known.diff;
    const diff = diffNodes(before, after);
    this.#diffs.set(before, { after, diff });
    return diff;
  }

  delete(key: string): void {
    this.#byKey.delete(key);
  }
}

/** What distinguishes two lists, by provider ID. */
export const diffNodes = (before: readonly TargetNode[], after: readonly TargetNode[]): NodesDiff => {
  const old = new Map(before.map((node) => [node.providerId, node]));
  const added: TargetNode[] = [];
  const changed: TargetNode[] = [];
  for (const node of after) {
    const earlier = old.get(node.providerId);
    old.delete(node.providerId);
    if (!earlier) added.push(node);
    else if (earlier !== node && !isDeepStrictEqual(earlier, node)) changed.push(node);
  }
  return { added, changed, removed: [...old.values()] };
};
