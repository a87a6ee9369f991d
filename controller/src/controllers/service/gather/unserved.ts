import { keyOf } from "../../../api/meta.ts";
import type { Service } from "../../../api/service.ts";
import type { ProviderSet } from "../../../provider/model/provider.ts";
import type { Ledger } from "../ledger.ts";
import { toldReadiness } from "../plan/status.ts";
import { hasFinalizer, isDeleting, wantsLoadBalancer } from "../predicates.ts";

export interface UnservedDependencies {
  readonly providers: Pick<ProviderSet, "providers" | "ownerOfService">;
  readonly ledger: Pick<Ledger, "holder">;
}

/** Why nobody serves a load balancer that was made here; undefined: somebody does or may, or it is another controller's as far as can be told. */
export function unservedWhy({ providers, ledger }: UnservedDependencies, service: Service): string | undefined {
  if (!hasFinalizer(service)) return undefined;
  const { loadBalancerClass } = service.spec;
  const holder = ledger.holder(keyOf(service));
  const isWanted = wantsLoadBalancer(service) && !isDeleting(service);
  // Whoever made it takes it down, whoever is to serve the Service now.
  if (holder !== undefined && !isWanted) {
    const info = providers.providers.find(({ name }) => name === holder.provider)?.info;
    const isServed = info === undefined || info.capabilities.loadBalancers !== undefined;
    return isServed ? undefined : `provider ${holder.provider}, which made it, serves no load balancers`;
  }
  // The finalizer is shared by controllers of all classes, and the condition by those of this kind.
  const isOurs =
    holder === undefined
      ? loadBalancerClass === undefined && toldReadiness(service) !== undefined
      : holder.service.spec.loadBalancerClass === loadBalancerClass;
  const owner = isOurs ? providers.ownerOfService(service) : undefined;
  return owner?.kind === "unowned" ? owner.why : undefined;
}
