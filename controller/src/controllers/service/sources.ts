import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import type { Source } from "../../runtime/source.ts";
import type { Timer } from "../../util/clock.ts";
import type { Workqueue } from "../../workqueue/queue.ts";
import type { ApplyDependencies } from "./apply/status.ts";
import type { Targets } from "./gather/desired.ts";
import { changesTargets, isTarget, losesStatus, wantsLoadBalancer } from "./predicates.ts";
import { acknowledgedOf } from "./record/record.ts";

/**
 * Node changes are batched: after 1 s without a change, and at most 5 s after the first. An update for each node, of hundreds of load
 * balancers, would keep a cloud busy for minutes.
 */
const QUIET_MS = 1000;
const MAX_BATCH_MS = 5000;

interface SourceDependencies extends Pick<ApplyDependencies, "providers" | "records" | "clock"> {
  readonly nodes: Informer<Node>;
  readonly services: Informer<Service>;
  readonly targets: Targets;
  readonly nodeSync: NodeSync;
}

/**
 * Wakes the Services whose load balancer has outdated nodes, once for each batch of changes. Until then all Services use the nodes of before,
 * except that a removed node is no longer a target.
 */
export function nodesSource(deps: SourceDependencies): Source {
  const { nodes, targets, nodeSync, clock } = deps;
  return {
    name: "nodes",
    ready: (signal) => nodes.whenSynced(signal),
    start: (queue) => {
      let timer: Timer | undefined;
      let firstMs: number | undefined;
      const wake = (): void => {
        firstMs = undefined;
        targets.changed();
        const due = new Set([...outdated(deps), ...inProgress(deps, queue)]);
        nodeSync.begin(due);
        for (const key of due) queue.add(key, { priority: "low" });
      };
      const changed = (isGone: boolean): void => {
        if (isGone) targets.changed();
        const nowMs = clock.monotonicMs();
        firstMs ??= nowMs;
        timer?.cancel();
        timer = clock.schedule(Math.min(QUIET_MS, firstMs + MAX_BATCH_MS - nowMs), wake);
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

function outdated({ providers, records, targets }: SourceDependencies): readonly string[] {
  const infos = new Map(providers.providers.map(({ name, info }) => [name, info]));
  const due: string[] = [];
  for (const [key, record] of records.list()) {
    const { provider = "", nodesFingerprint } = acknowledgedOf(record) ?? {};
    const info = infos.get(provider);
    if (info !== undefined && targets.of(provider, info).fingerprint !== nodesFingerprint) due.push(key);
  }
  return due;
}

/** Running reconciles began with the nodes of before; queued ones will use the new nodes. */
function inProgress({ services }: SourceDependencies, queue: Pick<Workqueue, "state">): readonly string[] {
  const wanting = [...services.lister.list()].filter(wantsLoadBalancer).map(keyOf);
  return wanting.filter((key) => queue.state(key).kind === "working");
}

/** Least time between two repairs of one status: another client that insists on its value causes no hot loop. */
const REPAIR_PERIOD_MS = 30_000;

/** Wakes a Service whose published address or condition another client has changed. */
export function statusSource(deps: Pick<SourceDependencies, "services" | "records" | "clock">): Source {
  const { services, records, clock } = deps;
  /** By key: the last or the scheduled repair. */
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

/** Measures how long a change of nodes takes to reach the last load balancer. As upstream, passes without work count too. */
export class NodeSync {
  readonly #deps: Pick<ApplyDependencies, "metrics" | "clock">;
  readonly #waiting = new Set<string>();
  #startMs = 0;

  constructor(dependencies: Pick<ApplyDependencies, "metrics" | "clock">) {
    this.#deps = dependencies;
  }

  /** These Services need the new nodes. A pass that begins during another one is measured from the earlier start. */
  begin(keys: Iterable<string>): void {
    if (this.#waiting.size === 0) this.#startMs = this.#deps.clock.monotonicMs();
    for (const key of keys) this.#waiting.add(key);
    if (this.#waiting.size === 0) this.#observe();
  }

  tried(key: string): void {
    if (this.#waiting.delete(key) && this.#waiting.size === 0) this.#observe();
  }

  #observe(): void {
    const { metrics, clock } = this.#deps;
    metrics.nodeSyncLatencySeconds.observe((clock.monotonicMs() - this.#startMs) / 1000);
  }
}
