import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/lister.ts";
import type { OwnWrites } from "../../kube/own-writes.ts";
import type { InstanceAnswer } from "../../provider/instance.ts";
import type { InstanceReader } from "../../provider/instance-reader.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import type { Input } from "./plan.ts";
import { isUninitialized } from "./predicates.ts";
import type { Refusals } from "./refusals.ts";
import type { RefreshSchedule } from "./refresh-schedule.ts";
import type { UnownedNodes } from "./unowned-nodes.ts";

/** What this step reads from. */
export interface GatherDependencies {
  readonly nodes: Lister<Node>;
  readonly instances: InstanceReader;
  readonly refreshes: RefreshSchedule;
  readonly refusals: Refusals;
  readonly unowned: UnownedNodes;
  readonly ownWrites: OwnWrites<Node>;
}

/**
 * A first answer is often too early, and tries follow each other within milliseconds at first: those of one second share one
 * look at the cloud.
 */
const MAX_DATA_AGE_MS = 1000;

/** As fresh as the batch that the whole tick shares. */
const REFRESH_MAX_DATA_AGE_MS = 30_000;

/** The Node and, while it waits for the cloud or is due, what the cloud says of its machine. undefined: the Node is gone. */
export async function gather(deps: GatherDependencies, context: ReconcileContext): Promise<Input | undefined> {
  const { nodes, ownWrites, refreshes, refusals, unowned } = deps;
  const { key } = context;
  const cached = nodes.get(key);
  if (cached === undefined) {
    refreshes.forget(key);
    refusals.forget(key);
    unowned.forget(key);
    ownWrites.forget(key);
    return undefined;
  }
  const node = ownWrites.latest(cached);
  if (!isUninitialized(node) && !refreshes.isDue(key)) return { node, answer: undefined };
  const answer = await ask(deps, context, node);
  // A tick that found no answer is not over: it comes again when the provider does.
  if (answer.kind !== "unknown") refreshes.done(key);
  return { node, answer };
}

function ask({ instances }: GatherDependencies, { signal }: ReconcileContext, node: Node): Promise<InstanceAnswer> {
  return isUninitialized(node)
    ? instances.get(node, { signal, maxDataAgeMs: MAX_DATA_AGE_MS })
    : instances.get(node, { signal, maxDataAgeMs: REFRESH_MAX_DATA_AGE_MS, priority: "low" });
}
