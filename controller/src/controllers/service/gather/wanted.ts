import type { Service } from "../../../api/service.ts";
import { type UnsupportedRequest, unsupportedRequests } from "../plan/unsupported.ts";
import type { LoadBalancerAnswer } from "../../../provider/model/load-balancer.ts";
import type { ProviderInfo } from "../../../provider/model/info.ts";
import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import { formerOf } from "../formers.ts";
import type { Entry } from "../ledger.ts";
import { loadBalancerRef } from "./load-balancer-ref.ts";
import type { WantedInput } from "../plan/input.ts";
import { NEXT_TRY, type Refusal, refusalOf } from "../plan/refusal.ts";
import { isReadNeeded } from "../plan/standing.ts";
import { hasFinalizer, needsUpdate } from "../predicates.ts";
import { gatherAdoption } from "./adoption.ts";
import type { GatherDependencies } from "./dependencies.ts";
import { type Owner, ownerOf } from "./owner.ts";
import { leftover, wishOf } from "./desired.ts";

/** The wish of a Service, and what is known of its load balancer; undefined: it is nobody's here. */
export async function gatherWanted(
  deps: GatherDependencies,
  context: ReconcileContext,
  service: Service,
  earlier: Entry | undefined,
): Promise<WantedInput | undefined> {
  const owner = ownerOf(deps, context, service);
  if (owner === undefined) {
    deps.ledger.recordForeign(context.key, service.metadata.uid);
    return undefined;
  }
  const { provider, info, loadBalancers } = owner;
  deps.ledger.recordOurs(context.key);
  const isKnown = !hasFinalizer(service) || deps.ledger.holder(context.key) !== undefined;
  const former = await formerOf(deps, provider, service.metadata.uid, isKnown, context);
  const isGoing = deps.ledger.isDeletionAsked(context.key, service.metadata.uid);
  const entry = earlier?.provider === provider.name && !isGoing ? earlier : undefined;
  const declined = deps.ledger.declined(context.key, info.bootId);
  if (declined !== undefined && !needsUpdate(declined, service)) return undefined;
  const wish = wishOf(deps, service, owner, entry);
  const isAttempted = deps.ledger.attempted(context.key) !== undefined;
  const unsupported = unsupportedRequests(service, loadBalancers);
  const refusal = refusalOf(unsupported) ?? refusedBefore(deps, context.key, service, info);
  // What is refused is kept up, and not made as wished again: the refusal comes first.
  const isLookedAt = entry !== undefined && refusal === undefined;
  const suspicion = isLookedAt ? deps.drift.suspicion(context.key) : undefined;
  const isRead = isReadNeeded({ service, wish, entry, isAttempted, refusal, suspicion });
  const observed = isRead ? await read(deps, owner, service, entry, context) : undefined;
  const adoption = await gatherAdoption(deps, owner, service, { entry, observed }, context);
  return {
    kind: "wanted",
    service,
    provider: provider.name,
    wish: { ...wish, ...adoption.wish },
    entry,
    isAttempted,
    observed,
    suspicion,
    former: former && leftover(deps, service, former),
    unsupported: [...unsupported, ...adoption.problems],
    refusal: refusal ?? adoptionRefusal(adoption.problems),
    updatesNodes: loadBalancers.updateNodes,
  };
}

/** What stands in the way may go without a change of the Service or the provider. */
const ADOPTION_RETRY_MS = 60_000;

function adoptionRefusal(problems: readonly UnsupportedRequest[]): Refusal | undefined {
  const refusal = refusalOf(problems);
  return refusal && { ...refusal, retryAfterMs: ADOPTION_RETRY_MS, nextTry: `${NEXT_TRY}, or after a minute` };
}

function refusedBefore(
  { ledger, clock }: GatherDependencies,
  key: string,
  service: Service,
  { bootId }: ProviderInfo,
): Refusal | undefined {
  const nowMs = clock.monotonicMs();
  const refused = ledger.refused(key, service, bootId, nowMs);
  if (refused === undefined) return undefined;
  return {
    message: refused.message,
    retryAfterMs: refused.untilMs - nowMs,
    nextTry: `${NEXT_TRY}, or after 30 minutes`,
  };
}

async function read(
  { inventory }: GatherDependencies,
  { provider, info }: Owner,
  service: Service,
  entry: Entry | undefined,
  { signal, log, priority }: ReconcileContext,
): Promise<LoadBalancerAnswer> {
  if (entry === undefined) {
    const loadBalancer = await inventory.take(provider, service.metadata.uid, signal, log);
    if (loadBalancer !== undefined) return { kind: "present", loadBalancer, diagnostics: [] };
  }
  const ref = loadBalancerRef(service, info, entry?.loadBalancerId, entry?.pending?.operationId);
  return provider.client.getLoadBalancer(ref, { signal, priority });
}
