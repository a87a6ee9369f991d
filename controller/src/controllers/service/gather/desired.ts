import { type Service, deletionProtection } from "../../../api/service.ts";
import { specFingerprint } from "../../../provider/convert/service.ts";
import { declaredAnnotations, loadBalancerSpec, serviceRef } from "../../../provider/convert/service.ts";
import type { LoadBalancerRef } from "../../../provider/model/client.ts";
import type { ProviderInfo } from "../../../provider/model/info.ts";
import type { PreviousToDelete, Wish } from "../plan/types.ts";
import type { Acknowledged, PreviousLoadBalancer } from "../record/record.ts";
import { type GatherDependencies, type Owner, serverNamed } from "./owner.ts";

type Dependencies = Pick<GatherDependencies, "providers" | "targets" | "settings">;

/** A wish that is this process' own. */
export interface KnownWish extends Wish {
  readonly spec: NonNullable<Wish["spec"]>;
}

/** What a previous provider holds, and how its protection at the cloud is lifted where the Service says that it may go. */
export function previousToDelete(
  deps: Dependencies,
  service: Service,
  previous: PreviousLoadBalancer,
): PreviousToDelete {
  const owner = serverNamed(deps, previous.provider);
  if (owner?.loadBalancers.deletionProtection !== true || deletionProtection(service) !== false) return previous;
  const wish = wishOf(deps, service, owner, undefined);
  return { ...previous, unprotected: unprotectedOf(wish, wish.spec) };
}

/** The same without protection at the cloud. */
export function unprotectedOf(wish: Wish, asked: KnownWish["spec"]): KnownWish {
  const spec = { ...asked, deletionProtection: false };
  return { ...wish, spec, specFingerprint: specFingerprint(spec) };
}

/**
 * What the Service wishes of its owner.
 * @param requested what this process has requested last
 */
export function wishOf(
  { targets, settings }: Dependencies,
  service: Service,
  { provider, info, loadBalancers }: Owner,
  requested: Acknowledged["spec"],
): KnownWish {
  const { annotationPrefixes } = info;
  const asked = loadBalancerSpec(service, { annotationPrefixes, loadBalancers }, settings);
  // To say nothing would leave a protection as it is that this process has asked for.
  const isLifted = asked.deletionProtection === undefined && requested?.deletionProtection !== undefined;
  const spec = isLifted ? { ...asked, deletionProtection: false } : asked;
  return { spec, specFingerprint: specFingerprint(spec), nodes: targets.of(provider.name, info) };
}

/** Names a load balancer to its provider; ids of earlier answers are hints. */
export function loadBalancerRef(
  service: Service,
  info: ProviderInfo | undefined,
  loadBalancerId: string | undefined,
  operationId: string | undefined,
): LoadBalancerRef {
  return {
    service: serviceRef(service),
    class: service.spec.loadBalancerClass,
    annotations: declaredAnnotations(service, info?.annotationPrefixes ?? []),
    ...(operationId === undefined || operationId === "" ? {} : { operationId }),
    ...(loadBalancerId === undefined || loadBalancerId === "" ? {} : { loadBalancerId }),
  };
}
