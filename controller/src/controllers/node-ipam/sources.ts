import type { Node } from "../../api/node.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import { NODES } from "../../kube/resources/node.ts";
import type { Source } from "../../runtime/source.ts";
import type { Logger } from "../../telemetry/log.ts";
import { sleep } from "../../util/abort.ts";
import { backoffMs } from "../../util/backoff.ts";
import type { Clock } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";
import { AllocationConflictLog } from "./waiting-nodes.ts";
import type { CidrAllocations } from "./cidr-allocations.ts";

export interface RangesSourceDependencies {
  readonly nodes: Informer<Node>;
  readonly kube: Pick<KubeClient, "get" | "list">;
  readonly allocations: CidrAllocations;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Upstream's page is the whole cluster; this keeps the event loop free. */
const PAGE = 500;

const RETRY = { initialMs: 500, maxMs: 10_000 } as const;

/** From one look at a Node that the cache does not show to the next. */
const LOOK_AGAIN_MS = 1000;

/**
 * Keeps the allocations true to the cache, and is ready when it holds all that the API server has: what another leader handed out last
 * may not have reached this cache. Nothing is handed out before.
 */
export function rangesSource(deps: RangesSourceDependencies): Source {
  const { nodes, allocations, log } = deps;
  const conflicts = new AllocationConflictLog(log);
  const see = (node: Node): void => {
    for (const conflict of allocations.see(node)) conflicts.add(node, conflict);
  };
  return {
    name: "pod ranges in use",
    start: () =>
      nodes.addHandler({
        onAdd: (node) => see(node),
        onUpdate: (_old, node) => see(node),
        onDelete: (node) => allocations.forget(node),
      }),
    ready: async (signal) => {
      await nodes.whenSynced(signal);
      const listed = await listAll(deps, signal);
      for (const node of listed) see(node);
      conflicts.startDone();
      for (const node of listed) await untilKnown(node, deps, signal);
    },
  };
}

async function listAll({ kube, clock, log }: RangesSourceDependencies, signal: AbortSignal): Promise<readonly Node[]> {
  for (let failures = 1; ; failures++) {
    try {
      return await listPages(kube, signal);
    } catch (error) {
      signal.throwIfAborted();
      log.warn("Could not list Nodes; no pod CIDR is allocated until that succeeds", { detail: messageOf(error) });
    }
    await sleep(
      backoffMs(RETRY, failures, () => 0),
      signal,
      clock,
    );
  }
}

async function listPages(kube: Pick<KubeClient, "list">, signal: AbortSignal): Promise<readonly Node[]> {
  const listed: Node[] = [];
  let next = "";
  do {
    const page = await kube.list(NODES, { signal, limit: PAGE, ...(next === "" ? {} : { continue: next }) });
    listed.push(...page.items);
    next = page.continue;
  } while (next !== "");
  return listed;
}

/** A Node that was listed and is not in the cache comes into it, or has gone: then nobody else would tell the allocations. */
async function untilKnown(node: Node, deps: RangesSourceDependencies, signal: AbortSignal): Promise<void> {
  const { nodes, allocations, clock } = deps;
  const { name, uid } = node.metadata;
  while (allocations.of(node) !== undefined && nodes.lister.get(name)?.metadata.uid !== uid) {
    if (await isGone(node, deps, signal)) return allocations.forget(node);
    await sleep(LOOK_AGAIN_MS, signal, clock);
  }
}

/** Not knowing is no reason to give its ranges to others. */
async function isGone({ metadata }: Node, { kube }: RangesSourceDependencies, signal: AbortSignal): Promise<boolean> {
  try {
    const now = await kube.get(NODES, { name: metadata.name }, { signal });
    return now.metadata.uid !== metadata.uid;
  } catch (error) {
    signal.throwIfAborted();
    return isApiError(error, "notFound");
  }
}
