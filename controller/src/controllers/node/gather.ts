import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/lister.ts";
import type { InstanceReader } from "../../provider/instance-reader.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import type { Input } from "./plan.ts";
import { isUninitialized } from "./predicates.ts";
import type { RefreshSchedule } from "./refresh-schedule.ts";

/** What this step reads from. */
export interface GatherDependencies {
  readonly nodes: Lister<Node>;
  readonly instances: InstanceReader;
  readonly refreshes: RefreshSchedule;
}

/**
 * A first answer is often too early, and tries follow each other within milliseconds at first: those of one second share one
 * look at the cloud.
 */
const MAX_DATA_AGE_MS = 1000;

/** As fresh as the batch that the whole tick shares. */
const REFRESH_MAX_DATA_AGE_MS = 30_000;

/** The Node and, while it waits for the cloud or is due, what the cloud says of its machine. undefined: the Node is gone. */
export async function gather(
  { nodes, instances, refreshes }: GatherDependencies,
  { key, signal }: ReconcileContext,
): Promise<Input | undefined> {
  const node = nodes.get(key);
  if (node === undefined) {
    refreshes.forget(key);
    return undefined;
  }
  const isDue = refreshes.take(key);
  if (isUninitialized(node)) {
    return { node, answer: await instances.get(node, { signal, maxDataAgeMs: MAX_DATA_AGE_MS }) };
  }
  if (!isDue) return { node, answer: undefined };
  const answer = await instances.get(node, { signal, maxDataAgeMs: REFRESH_MAX_DATA_AGE_MS, priority: "low" });
  return { node, answer };
}
