import { keyOf } from "../../../api/meta.ts";
import type { Service } from "../../../api/service.ts";
import type { LoadBalancerCapabilities, ProviderInfo } from "../../../provider/model/info.ts";
import type { Provider, ProviderSet } from "../../../provider/model/provider.ts";
import { classesOf } from "../../../provider/ownership/provider-set.ts";
import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import type { Ledger } from "../ledger.ts";
import { hasFinalizer } from "../predicates.ts";
import type { GatherDependencies } from "./dependencies.ts";

/** Who serves a Service, as far as load balancers go. */
export interface Owner {
  readonly provider: Provider;
  readonly info: ProviderInfo;
  readonly loadBalancers: LoadBalancerCapabilities;
}

/** Who has acknowledged the load balancer, whoever is to serve the Service now. */
export function holderOf({ providers }: GatherDependencies, name: string): Owner | undefined {
  const provider = providers.providers.find((candidate) => candidate.name === name);
  const loadBalancers = provider?.info?.capabilities.loadBalancers;
  if (provider?.info === undefined || loadBalancers === undefined) return undefined;
  return { provider, info: provider.info, loadBalancers };
}

/** Its class is nobody's here as far as known, and nothing of it is ours: another controller has the word about it. */
export function isPerhapsForeign(
  { providers, ledger }: { readonly providers: Pick<ProviderSet, "providers">; readonly ledger: Ledger },
  service: Service,
): boolean {
  const { loadBalancerClass } = service.spec;
  if (loadBalancerClass === undefined || hasFinalizer(service)) return false;
  if (ledger.holder(keyOf(service)) !== undefined) return false;
  return !providers.providers.some(({ info }) => info !== undefined && classesOf(info).includes(loadBalancerClass));
}

/** undefined: nobody's here. Throws while no provider has answered yet. */
export function ownerOf(
  { providers }: GatherDependencies,
  { log }: ReconcileContext,
  service: Service,
): Owner | undefined {
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
