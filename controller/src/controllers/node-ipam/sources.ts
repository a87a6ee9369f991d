import type { Node } from "../../api/node.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import { listPages } from "../../kube/list-pages.ts";
import { NODES } from "../../kube/resources/node.ts";
import type { Source } from "../../runtime/source.ts";
import type { Logger } from "../../telemetry/log.ts";
import { sleep } from "../../util/abort.ts";
import { backoffMs } from "../../util/backoff.ts";
import type { Clock } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";
import { AllocationConflictLog } from "./waiting-nodes.ts";
import type { CidrAllocations } from "./cidr-allocations.ts";

export interface CidrsSourceDependencies {
  readonly nodes: Informer<Node>;
  readonly kube: Pick<KubeClient, "get" | "list">;
  readonly allocations: CidrAllocations;
  readonly clock: Clock;
  readonly log: Logger;
}

const RETRY = { initialMs: 500, maxMs: 10_000 } as const;

/** Between two reads of a Node that the cache does not have. */
const READ_AGAIN_MS = 1000;

/**
 * Keeps the allocations up to date with the cache. It is ready when they include all Nodes of the API server, because the cache may lack
 * what another leader allocated last. Nothing is allocated before.
 */
export function cidrsSource(deps: CidrsSourceDependencies): Source {
  const { nodes, allocations, log } = deps;
  const conflicts = new AllocationConflictLog(log);
  const see = (node: Node): void => {
    for (const conflict of allocations.see(node)) conflicts.add(node, conflict);
  };
  return {
    name: "pod CIDRs in use",
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

async function listAll({ kube, clock, log }: CidrsSourceDependencies, signal: AbortSignal): Promise<readonly Node[]> {
  for (let failures = 1; ; failures++) {
    try {
      const nodes: Node[] = [];
      for await (const node of listPages(kube, NODES, signal)) nodes.push(node);
      return nodes;
    } catch (error) {
      signal.throwIfAborted();
      log.warn("Could not list Nodes; no pod CIDR is allocated until that succeeds", { detail: messageOf(error) });
    }
    const waitMs = backoffMs(RETRY, failures, () => 0);
    await sleep(waitMs, signal, clock);
  }
}

/** Waits until a listed Node is in the cache, or is deleted: then no event would release its allocation. */
async function untilKnown(node: Node, deps: CidrsSourceDependencies, signal: AbortSignal): Promise<void> {
  const { nodes, allocations, clock } = deps;
  const { name, uid } = node.metadata;
  while (allocations.of(node) !== undefined && nodes.lister.get(name)?.metadata.uid !== uid) {
    if (await isDeleted(node, deps, signal)) return allocations.forget(node);
    await sleep(READ_AGAIN_MS, signal, clock);
  }
}

/** After another error the allocation is kept. */
async function isDeleted({ metadata }: Node, { kube }: CidrsSourceDependencies, signal: AbortSignal): Promise<boolean> {
  try {
    const now = await kube.get(NODES, { name: metadata.name }, { signal });
    return now.metadata.uid !== metadata.uid;
  } catch (error) {
    signal.throwIfAborted();
    return isApiError(error, "notFound");
  }
}
