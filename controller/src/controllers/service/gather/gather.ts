import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import { gatherCleanup } from "./cleanup.ts";
import type { GatherDependencies } from "./dependencies.ts";
import { unservedWhy } from "./unserved.ts";
import { gatherWanted } from "./wanted.ts";
import type { Attempt, Entry } from "../ledger.ts";
import type { CleanupInput, Input } from "../plan/input.ts";
import { isDeleting, isDeletionProtected, wantsLoadBalancer } from "../predicates.ts";

/** The Service, the wish it stands for, and what is known of its load balancer. undefined: nothing here is ours. */
export async function gather(deps: GatherDependencies, context: ReconcileContext): Promise<Input | undefined> {
  const { key } = context;
  const cached = deps.services.get(key);
  const service = cached && deps.ownWrites.latest(cached);
  const entry = deps.ledger.entry(key);
  const earlier = deps.ledger.holder(key);
  // The object is gone, or another of the same name is there: the load balancer was the earlier one's.
  if (earlier !== undefined && service?.metadata.uid !== earlier.service.metadata.uid) {
    return orphan(deps, key, earlier, entry);
  }
  if (service === undefined) {
    deps.ledger.forget(key);
    deps.ownWrites.forget(key);
    deps.conditions.forget(key);
    deps.drift.forget(key);
    return undefined;
  }
  const why = unservedWhy(deps, service);
  if (why !== undefined) return { kind: "unserved", service, why };
  return wantsLoadBalancer(service) && !isDeleting(service)
    ? gatherWanted(deps, context, service, entry)
    : gatherCleanup(deps, context, service, entry);
}

function orphan(
  { ledger }: GatherDependencies,
  key: string,
  { service: accepted, provider }: Attempt,
  entry: Entry | undefined,
): CleanupInput {
  const { uid } = accepted.metadata;
  const last = ledger.last(key, uid) ?? accepted;
  // Whether it may go is the last word's; what it was made from is what was accepted.
  const service = isDeletionProtected(last) === isDeletionProtected(accepted) ? accepted : last;
  const [deletion, former] = [ledger.deletion(key, uid), ledger.former(key, uid)];
  const gone = { isGone: true, upkeep: undefined, unprotected: undefined } as const;
  return { kind: "cleanup", service, provider, entry, deletion, former, ...gone };
}
