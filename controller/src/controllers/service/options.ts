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
    help: "Services of one provider worked on at once; the provider's own limit holds as well",
    differs: "1 is for clouds that take no more; here the provider says what its cloud takes",
  }),
  loadBalancerDriftPeriod: durationFlag({
    group: "controllers",
    reloadable: true,
    defaultValue: 600_000,
    min: 0,
    help: "how often it is checked whether load balancers were changed at the cloud by others; the provider may ask for longer, 0 turns it off",
  }),
  allowLoadBalancerAdoption: boolFlag({
    group: "controllers",
    reloadable: true,
    defaultValue: false,
    help: "let Services take over load balancers that exist, whoever made them: the one that annotation service.cloudwire.dev/adopt-load-balancer names. Whoever may write a Service may then take any load balancer of the cloud account",
  }),
} as const;

export type ServiceOptions = OptionsOf<typeof serviceFlags>;
