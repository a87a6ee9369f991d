import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import type { Clock } from "../../util/clock.ts";
import type { Deleted, DeletionHistory } from "./deletion-history.ts";
import type { Absences } from "./guard/absences.ts";
import { identityOf } from "./predicates.ts";

/** What is remembered of one Node that is not Ready. Only here: after a restart or failover everything is counted anew. */
export interface NodeRecord {
  /** Which Node and which machine it is about: see predicates.ts. */
  readonly subject: string;
  /** Operator's name of its provider, once known. */
  readonly provider: string | undefined;
  readonly absences: Absences | undefined;
  /** Counts for the brake. */
  readonly isGone: boolean;
  /** What the last looks showed, and how many in a row showed it. */
  readonly picture: string;
  readonly looks: number;
  /** What was said last of why it stays, and when (monotonic). */
  readonly reported: { readonly reason: string; readonly atMs: number } | undefined;
}

/** What is remembered of Nodes, for as long as the controller lives. */
export class NodeRecords {
  readonly #deletions: DeletionHistory;
  readonly #records = new Map<string, NodeRecord>();
  /** Keys of Nodes that count as gone, by provider. */
  readonly #gone = new Map<string, Set<string>>();
  /** Nodes whose deletion was asked for without an answer, by key. */
  readonly #unanswered = new Map<string, { readonly provider: string; readonly uncertain: Disposable }>();

  constructor(deletions: DeletionHistory) {
    this.#deletions = deletions;
  }

  /** undefined also for a Node made anew under its old name, or one that is looked up otherwise by now. */
  get(node: Node): NodeRecord | undefined {
    const record = this.#records.get(keyOf(node));
    return record?.subject === identityOf(node) ? record : undefined;
  }

  /** Looks in a row that showed the same. */
  looksOf(key: string): number {
    return this.#records.get(key)?.looks ?? 1;
  }

  put(key: string, record: NodeRecord): void {
    this.#uncount(key);
    this.#records.set(key, record);
    if (record.isGone && record.provider !== undefined) setOf(this.#gone, record.provider).add(key);
  }

  forget(key: string): void {
    this.#uncount(key);
    this.#records.delete(key);
    this.#settle(key);
  }

  /** The Node is not there any more. */
  vanished(key: string): void {
    const unanswered = this.#unanswered.get(key);
    if (unanswered !== undefined) this.#deletions.deleted(unanswered.provider);
    this.forget(key);
  }

  /** Whether the Node counts for the brake, of that provider or of any: one that is exempt does not. */
  counts(key: string, provider?: string): boolean {
    const record = this.#records.get(key);
    return record?.isGone === true && (provider === undefined || record.provider === provider);
  }

  /** The Node was deleted by us. */
  deleted(key: string, provider: string): void {
    if (this.counts(key)) this.#deletions.deleted(provider);
    this.forget(key);
  }

  /** The Node may have been deleted by us. If it was, it vanishes. */
  mayBeDeleted(key: string, provider: string): void {
    if (!this.counts(key)) return;
    this.#settle(key);
    this.#unanswered.set(key, { provider, uncertain: this.#deletions.uncertain(provider) });
  }

  /** Nodes of the provider that are absent now, and deletions within the brake's window. */
  gone(provider: string): { readonly absent: number; readonly deleted: Deleted } {
    return { absent: this.#gone.get(provider)?.size ?? 0, deleted: this.#deletions.count(provider) };
  }

  #settle(key: string): void {
    this.#unanswered.get(key)?.uncertain[Symbol.dispose]();
    this.#unanswered.delete(key);
  }

  #uncount(key: string): void {
    const provider = this.#records.get(key)?.provider;
    if (provider !== undefined) this.#gone.get(provider)?.delete(key);
  }
}

function setOf(sets: Map<string, Set<string>>, name: string): Set<string> {
  const set = sets.get(name) ?? new Set<string>();
  sets.set(name, set);
  return set;
}

/** A census of 15,000 Nodes takes milliseconds, and as many Nodes may ask for it at once. */
const MAX_AGE_MS = 1000;

/** How many Nodes each provider owns. */
export class NodeCounts {
  readonly #nodes: Lister<Node>;
  readonly #providers: ProviderSet;
  readonly #clock: Clock;
  #counts: ReadonlyMap<string, number> = new Map();
  #countedAtMs = Number.NEGATIVE_INFINITY;

  constructor(nodes: Lister<Node>, providers: ProviderSet, clock: Clock) {
    this.#nodes = nodes;
    this.#providers = providers;
    this.#clock = clock;
  }

  of(provider: string): number {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#countedAtMs > MAX_AGE_MS) {
      this.#counts = this.#count();
      this.#countedAtMs = nowMs;
    }
    return this.#counts.get(provider) ?? 0;
  }

  #count(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const node of this.#nodes.list()) {
      const owner = this.#providers.ownerOfNode(node);
      if (owner.kind !== "owned") continue;
      const { name } = owner.provider;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }
}

/** When each provider last failed, by the operator's name for it. Outlives the controller. All times are monotonic. */
export class ProviderHistory {
  readonly #failures = new Map<string, number>();
  readonly #contradictions = new Map<string, number>();

  /** The provider failed in a way that casts uncertain on what else it says. */
  failed(provider: string, nowMs: number): void {
    this.#failures.set(provider, nowMs);
  }

  failedAtMs(provider: string): number | undefined {
    return this.#failures.get(provider);
  }

  /** A machine that the provider had called absent is there. */
  contradicted(provider: string, nowMs: number): void {
    this.#contradictions.set(provider, nowMs);
    this.failed(provider, nowMs);
  }

  /** Absences of the provider that were heard up to then count no longer. */
  contradictedAtMs(provider: string): number | undefined {
    return this.#contradictions.get(provider);
  }
}
