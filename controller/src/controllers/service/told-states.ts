import type { Service } from "../../api/service.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { toldReadiness } from "./plan/status.ts";
import { wantsLoadBalancer } from "./predicates.ts";

/** Stands for the reason of a Service that says nothing of its load balancer yet. */
const UNTOLD = "Untold";

export interface ToldStatesDependencies {
  readonly services: () => Iterable<Service>;
  readonly providers: Pick<ProviderSet, "providers" | "ownerOfService">;
}

/** Shows how many Services say what of their load balancer, as the cache has them at the scrape. */
export function exposeToldStates(metrics: Metrics, { services, providers }: ToldStatesDependencies): void {
  metrics.gauge({
    name: "cloudwire_services",
    help: "Services that a provider here serves, by the reason of their condition cloudwire.dev/LoadBalancerReady; without provider: nobody serves them any more, or it is undecided.",
    labels: ["provider", "reason"],
    collect: (gauge) => {
      gauge.reset();
      for (const { name } of providers.providers) gauge.set({ provider: name, reason: "Ready" }, 0);
      for (const service of services()) {
        const owner = providers.ownerOfService(service);
        const told = toldReadiness(service)?.reason;
        if (told === undefined && (owner.kind !== "owned" || !wantsLoadBalancer(service))) continue;
        gauge.inc({ provider: owner.kind === "owned" ? owner.provider.name : "", reason: told ?? UNTOLD });
      }
    },
  });
}
