import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import type { Clock } from "../../util/clock.ts";
import type { Deleted, DeletionHistory } from "./deletion-history.ts";
import type { Absences } from "./guard/absences.ts";
import { identityOf } from "./predicates.ts";

/** The history of one Node that is not Ready. It is in memory only: after a restart or failover the counts start again. */
export interface NodeRecord {
  /** Of the Node and its instance: see predicates.ts. */
  readonly identity: string;
  readonly provider: string | undefined;
  readonly absences: Absences | undefined;
  readonly isGone: boolean;
  /** What the last lookup showed, and how many in a row showed it. */
  readonly observedState: string;
  readonly unchangedLookups: number;
  /** When each reason was last reported (monotonic). Kept while reasons alternate. */
  readonly reported: Readonly<Record<string, number>>;
}

export class NodeRecords {
  readonly #deletions: DeletionHistory;
  readonly #records = new Map<string, NodeRecord>();
  readonly #gone = new Map<string, Set<string>>();
  /** Nodes whose deletion has an unknown outcome. */
  readonly #unanswered = new Map<string, { readonly provider: string; readonly uncertain: Disposable }>();

  constructor(deletions: DeletionHistory) {
    this.#deletions = deletions;
  }

  /** undefined also for a recreated Node, or for one that has another provider ID now. */
  get(node: Node): NodeRecord | undefined {
    const record = this.#records.get(keyOf(node));
    return record?.identity === identityOf(node) ? record : undefined;
  }

  unchangedLookups(key: string): number {
    return this.#records.get(key)?.unchangedLookups ?? 1;
  }

  put(key: string, record: NodeRecord): void {
    this.#uncount(key);
    this.#records.set(key, record);
    if (!record.isGone || record.provider === undefined) return;
    const keys = this.#gone.get(record.provider) ?? new Set<string>();
    this.#gone.set(record.provider, keys.add(key));
  }

  forget(key: string): void {
    this.#uncount(key);
    this.#records.delete(key);
    this.#settle(key);
  }

  vanished(key: string): void {
    const unanswered = this.#unanswered.get(key);
    if (unanswered !== undefined) this.#deletions.deleted(unanswered.provider);
    this.forget(key);
  }

  /** Whether the circuit breaker of the provider, or of any, counts the Node. */
  counts(key: string, provider?: string): boolean {
    const record = this.#records.get(key);
    return record?.isGone === true && (provider === undefined || record.provider === provider);
  }

  deleted(key: string, provider: string): void {
    if (this.counts(key)) this.#deletions.deleted(provider);
    this.forget(key);
  }

  /** This controller may have deleted the Node. If so, it vanishes. */
  mayBeDeleted(key: string, provider: string): void {
    if (!this.counts(key)) return;
    this.#settle(key);
    this.#unanswered.set(key, { provider, uncertain: this.#deletions.uncertain(provider) });
  }

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

/** Counting 15,000 Nodes takes milliseconds, and as many reconciles may need the counts at once. */
const MAX_AGE_MS = 1000;

export class NodeCounts {
  readonly #nodes: Lister<Node>;
  readonly #providers: ProviderSet;
  readonly #clock: Clock;
  #counts = new Map<string, number>();
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

  #count(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const node of this.#nodes.list()) {
      const owner = this.#providers.ownerOfNode(node);
      if (owner.kind === "owned") counts.set(owner.provider.name, (counts.get(owner.provider.name) ?? 0) + 1);
    }
    return counts;
  }
}

/** The last errors of each provider (monotonic times). It outlives the controller. */
export class ProviderHistory {
  readonly #failures = new Map<string, number>();
  readonly #contradictions = new Map<string, number>();

  failed(provider: string, nowMs: number): void {
    this.#failures.set(provider, nowMs);
  }

  failedAtMs(provider: string): number | undefined {
    return this.#failures.get(provider);
  }

  /** An instance that the provider had reported as absent exists. */
  contradicted(provider: string, nowMs: number): void {
    this.#contradictions.set(provider, nowMs);
    this.failed(provider, nowMs);
  }

  /** Absences heard until then no longer count. */
  contradictedAtMs(provider: string): number | undefined {
    return this.#contradictions.get(provider);
  }
}
