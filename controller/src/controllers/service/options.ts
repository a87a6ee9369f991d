import { boolFlag, durationFlag, numberFlag } from "../../options/flag.ts";
import type { OptionsOf } from "../../options/table.ts";

export const serviceFlags = {
  concurrentServiceSyncs: numberFlag({
    path: "ServiceController.ConcurrentServiceSyncs",
    group: "controllers",
    valueName: "number",
    defaultValue: 64,
    min: 1,
    max: 1000,
    whole: true,
    help: "Services of one provider that are reconciled concurrently; the provider's own limit also applies",
    differs: "1 is for clouds without concurrency; here the provider declares its limit",
  }),
  loadBalancerDriftPeriod: durationFlag({
    group: "controllers",
    reloadable: true,
    defaultValue: 600_000,
    min: 0,
    help: "how often load balancers are checked for changes by others; the provider can request a longer period; 0: disabled",
  }),
  allowLoadBalancerAdoption: boolFlag({
    group: "controllers",
    reloadable: true,
    defaultValue: false,
    help: "let Services adopt the existing load balancer that annotation service.cloudwire.dev/adopt-load-balancer names, regardless of its creator. Anyone who can write a Service can then take any load balancer of the cloud account",
  }),
} as const;

export type ServiceOptions = OptionsOf<typeof serviceFlags>;
