import type { Service } from "../../api/service.ts";
import type { Lister } from "../../kube/lister.ts";
import type { OwnWrites } from "../../kube/own-writes.ts";
import { specFingerprint } from "../../provider/convert/fingerprint.ts";
import { type LoadBalancerSettings, loadBalancerSpec } from "../../provider/convert/service.ts";
import { unsupportedRequests } from "../../provider/convert/unsupported.ts";
import type { LoadBalancerAnswer } from "../../provider/load-balancer.ts";
import type { LoadBalancerCapabilities, ProviderInfo } from "../../provider/provider-info.ts";
import type { Provider, ProviderSet } from "../../provider/provider-set.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import type { Clock } from "../../util/clock.ts";
import type { PacedConditions } from "./conditions.ts";
import type { Inventory } from "./inventory.ts";
import type { Attempt, Entry, Ledger } from "./ledger.ts";
import { loadBalancerRef } from "./load-balancer-ref.ts";
import type { CleanupInput, Input, WantedInput } from "./plan/input.ts";
import { isReadNeeded } from "./plan/standing.ts";
import type { Wish } from "./plan/wish.ts";
import { type Refusal, refusalOf } from "./plan/refusal.ts";
import { hasFinalizer, isDeleting, needsUpdate, wantsLoadBalancer } from "./predicates.ts";
import type { Targets } from "./targets.ts";

/** What this step reads from. */
export interface GatherDependencies {
  readonly services: Lister<Service>;
  readonly providers: ProviderSet;
  readonly targets: Targets;
  readonly inventory: Inventory;
  readonly ledger: Ledger;
  readonly ownWrites: OwnWrites<Service>;
  readonly conditions: Pick<PacedConditions, "forget">;
  readonly settings: LoadBalancerSettings;
  readonly clock: Pick<Clock, "monotonicMs">;
}

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
    return undefined;
  }
  return wantsLoadBalancer(service) && !isDeleting(service)
    ? gatherWanted(deps, context, service, entry)
    : gatherCleanup(deps, context, service, entry);
}

function orphan(
  { ledger }: GatherDependencies,
  key: string,
  { service, provider }: Attempt,
  entry: Entry | undefined,
): CleanupInput {
  const deletion = ledger.deletion(key, service.metadata.uid);
  return { kind: "cleanup", service, isGone: true, provider, entry, deletion };
}

function gatherCleanup(
  deps: GatherDependencies,
  context: ReconcileContext,
  service: Service,
  entry: Entry | undefined,
): CleanupInput | undefined {
  const { key } = context;
  const { uid } = service.metadata;
  const isLeft = hasFinalizer(service) || (wantsLoadBalancer(service) && !deps.ledger.isCleaned(key, uid));
  if (entry === undefined && !isLeft) return undefined;
  // A Service that gives up its type loses its class too; the finalizer is shared by controllers of all classes.
  if (entry === undefined && !wantsLoadBalancer(service) && deps.ledger.isForeign(key, uid)) return undefined;
  const provider = entry?.provider ?? ownerOf(deps, context, service)?.provider.name;
  if (provider === undefined) return undefined;
  deps.ledger.recordOurs(key);
  return { kind: "cleanup", service, isGone: false, provider, entry, deletion: deps.ledger.deletion(key, uid) };
}

async function gatherWanted(
  deps: GatherDependencies,
  context: ReconcileContext,
  service: Service,
  entry: Entry | undefined,
): Promise<WantedInput | undefined> {
  const owner = ownerOf(deps, context, service);
  if (owner === undefined) {
    deps.ledger.recordForeign(context.key, service.metadata.uid);
    return undefined;
  }
  const { provider, info, loadBalancers } = owner;
  deps.ledger.recordOurs(context.key);
  const declined = deps.ledger.declined(context.key, info.bootId);
  if (declined !== undefined && !needsUpdate(declined, service)) return undefined;
  const wish = wishOf(deps, service, owner);
  const isAttempted = deps.ledger.attempted(context.key) !== undefined;
  const unsupported = unsupportedRequests(service, loadBalancers);
  const refusal = refusalOf(unsupported) ?? refusedBefore(deps, context.key, service, info);
  const isRead = isReadNeeded({ service, wish, entry, isAttempted, refusal });
  return {
    kind: "wanted",
    service,
    provider: provider.name,
    wish,
    entry,
    isAttempted,
    observed: isRead ? await read(deps, owner, service, entry, context) : undefined,
    unsupported,
    refusal,
    updatesNodes: loadBalancers.updateNodes,
  };
}

function refusedBefore(
  { ledger, clock }: GatherDependencies,
  key: string,
  service: Service,
  { bootId }: ProviderInfo,
): Refusal | undefined {
  const nowMs = clock.monotonicMs();
  const refused = ledger.refused(key, service, bootId, nowMs);
  return refused && { message: refused.message, retryAfterMs: refused.untilMs - nowMs };
}

interface Owner {
  readonly provider: Provider;
  readonly info: ProviderInfo;
  readonly loadBalancers: LoadBalancerCapabilities;
}

/** undefined: nobody's here. Throws while no provider has answered yet. */
function ownerOf({ providers }: GatherDependencies, { log }: ReconcileContext, service: Service): Owner | undefined {
  const owner = providers.ownerOfService(service);
  switch (owner.kind) {
    case "undecided":
      throw owner.error;
    case "unowned":
      log.debug(2, "Service is left alone: no provider serves it", { why: owner.why });
      return undefined;
    case "owned": {
      const { provider, info } = owner;
      const { loadBalancers } = info.capabilities;
      return loadBalancers === undefined ? undefined : { provider, info, loadBalancers };
    }
    default:
      return owner satisfies never;
  }
}

function wishOf(deps: GatherDependencies, service: Service, { provider, info, loadBalancers }: Owner): Wish {
  const { annotationPrefixes } = info;
  const spec = loadBalancerSpec(service, { annotationPrefixes, loadBalancers }, deps.settings);
  return { spec, specFingerprint: specFingerprint(spec), nodes: deps.targets.of(provider.name, info) };
}

async function read(
  { inventory }: GatherDependencies,
  { provider, info }: Owner,
  service: Service,
  entry: Entry | undefined,
  { signal, log }: ReconcileContext,
): Promise<LoadBalancerAnswer> {
  if (entry === undefined) {
    const loadBalancer = await inventory.take(provider, service.metadata.uid, signal, log);
    if (loadBalancer !== undefined) return { kind: "present", loadBalancer, diagnostics: [] };
  }
  const ref = loadBalancerRef(service, info, entry?.loadBalancerId, entry?.pending?.operationId);
  return provider.client.getLoadBalancer(ref, { signal });
}
