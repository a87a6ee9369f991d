import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import type { Input } from "../plan/input.ts";
import { isDeleting, wantsLoadBalancer } from "../predicates.ts";
import { News } from "../record/news.ts";
import { holderOf } from "../record/record.ts";
import type { RecordEvent } from "../record/transition.ts";
import { abandoned, gatherCleanup } from "./cleanup.ts";
import { type GatherDependencies, unservedWhy } from "./owner.ts";
import { gatherWanted } from "./wanted.ts";

export interface Gathered {
  /** What was learned of the Service; to be committed before anything is done. */
  readonly news: readonly RecordEvent[];
  /** undefined: nothing here is ours. */
  readonly input: Input | undefined;
}

/** The Service, the wish it stands for, and what is known of its load balancer. */
export async function gather(deps: GatherDependencies, context: ReconcileContext): Promise<Gathered> {
  const news = new News(deps.records.get(context.key));
  const input = await gatherInput(deps, news, context);
  return { news: news.events, input };
}

async function gatherInput(
  deps: GatherDependencies,
  news: News,
  context: ReconcileContext,
): Promise<Input | undefined> {
  const { key } = context;
  const cached = deps.services.get(key);
  const service = cached && deps.ownWrites.latest(cached);
  news.add(service === undefined ? { kind: "serviceAbsent" } : { kind: "serviceSeen", service });
  const left = news.record && abandoned(news.record);
  if (left !== undefined) return left;
  if (service === undefined) return { kind: "absent", key };
  const why = unservedWhy(deps, service, holderOf(news.record));
  if (why !== undefined) return { kind: "unserved", service, why };
  return wantsLoadBalancer(service) && !isDeleting(service)
    ? gatherWanted(deps, news, service, context)
    : gatherCleanup(deps, news, service, context);
}
