import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import type { Source } from "../../runtime/source.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import type { Workqueue } from "../../workqueue/queue.ts";
import type { Targets } from "./gather/desired.ts";
import type { ServiceMetrics } from "./metrics.ts";
import { changesTargets, isTarget, losesStatus, wantsLoadBalancer } from "./predicates.ts";
import { acknowledgedOf } from "./record/record.ts";
import type { Records } from "./record/records.ts";

/** How changes of nodes are gathered. */
export interface NodePace {
  /** They are over when none has come for this long. */
  readonly quietMs: number;
  /** Load balancers hear of the first of them after this time, however many follow. */
  readonly longestMs: number;
}

export interface NodesSourceOptions {
  readonly nodes: Informer<Node>;
  readonly services: Pick<Informer<Service>, "lister">;
  readonly providers: Pick<ProviderSet, "providers">;
  readonly records: Pick<Records, "list">;
  readonly targets: Targets;
  readonly nodeSync: NodeSync;
  readonly clock: Clock;
  readonly pace: NodePace;
}

/**
 * Wakes the Services whose load balancer has other nodes than it should, once for all changes of nodes that follow each other; until then
 * all Services take the nodes as they were. Only a node that has gone is given to no load balancer any more from then on.
 */
export function nodesSource(options: NodesSourceOptions): Source {
  const { nodes, targets, nodeSync, clock, pace } = options;
  return {
    name: "nodes",
    ready: (signal) => nodes.whenSynced(signal),
    start: (queue) => {
      let timer: Timer | undefined;
      let firstMs: number | undefined;
      const wake = (): void => {
        firstMs = undefined;
        targets.changed();
        const due = new Set([...outdated(options), ...inWork(options, queue)]);
        nodeSync.begin(due);
        for (const key of due) queue.add(key, { priority: "low" });
      };
      const changed = (isGone: boolean): void => {
        if (isGone) targets.changed();
        const nowMs = clock.monotonicMs();
        firstMs ??= nowMs;
        timer?.cancel();
        timer = clock.schedule(Math.min(pace.quietMs, firstMs + pace.longestMs - nowMs), wake);
      };
      const end = nodes.addHandler({
        onAdd: (node) => isTarget(node) && changed(false),
        onUpdate: (old, node) => changesTargets(old, node) && changed(!isTarget(node)),
        onDelete: (node) => isTarget(node) && changed(true),
      });
      return () => {
        end();
        timer?.cancel();
      };
    },
  };
}

function outdated({ providers, records, targets }: NodesSourceOptions): readonly string[] {
  const infos = new Map(providers.providers.map(({ name, info }) => [name, info]));
  const due: string[] = [];
  for (const [key, record] of records.list()) {
    const { provider = "", nodesFingerprint } = acknowledgedOf(record) ?? {};
    const info = infos.get(provider);
    if (info !== undefined && targets.of(provider, info).fingerprint !== nodesFingerprint) due.push(key);
  }
  return due;
}

/** Whatever these end with, they began with the nodes of before. Others take them as they are when their turn comes. */
function inWork({ services }: NodesSourceOptions, queue: Pick<Workqueue, "state">): readonly string[] {
  const wanting = [...services.lister.list()].filter(wantsLoadBalancer).map(keyOf);
  return wanting.filter((key) => queue.state(key).kind === "working");
}

/** Somebody who writes another address again and again is answered no faster: each has the last word for a while, and nobody spins. */
const REPAIR_PERIOD_MS = 30_000;

export interface StatusSourceOptions {
  readonly services: Informer<Service>;
  readonly records: Pick<Records, "get">;
  readonly clock: Clock;
}

/** Wakes a Service whose published address or condition somebody else has changed: the first time at once, then paced. */
export function statusSource({ services, records, clock }: StatusSourceOptions): Source {
  /** When each Service's status was last put right, or is going to be. */
  const repairAtMs = new Map<string, number>();
  const delayMs = (key: string): number => {
    const nowMs = clock.monotonicMs();
    const lastMs = repairAtMs.get(key) ?? -REPAIR_PERIOD_MS;
    const atMs = lastMs > nowMs ? lastMs : Math.max(nowMs, lastMs + REPAIR_PERIOD_MS);
    repairAtMs.set(key, atMs);
    return atMs - nowMs;
  };
  return {
    name: "status of services",
    ready: (signal) => services.whenSynced(signal),
    start: (queue) =>
      services.addHandler({
        onUpdate: (old, service) => {
          const key = keyOf(service);
          if (losesStatus(old, service, acknowledgedOf(records.get(key))?.ingress)) queue.addAfter(key, delayMs(key));
        },
        onDelete: (service) => repairAtMs.delete(keyOf(service)),
      }),
  };
}

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
