import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import type { Source } from "../../runtime/source.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import type { Workqueue } from "../../workqueue/queue.ts";
import type { NodeSync } from "./node-sync.ts";
import { changesTargets, isTarget, wantsLoadBalancer } from "./predicates.ts";
import type { Targets } from "./gather/targets.ts";
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
