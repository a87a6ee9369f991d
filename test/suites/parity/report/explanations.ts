import type { Difference, Explanation } from "./difference.ts";

const place =
  (pattern: RegExp) =>
  ({ place: where }: Difference): boolean =>
    pattern.test(where);

/** By row id. Narrow on purpose: what a row does not speak of, it does not excuse. */
export const explanations: Readonly<Record<string, Explanation>> = {
  N2: [place(/^write: (?:update nodes|patch nodes)$/)],
  N4: [place(/^event: Node \S+ cloud-node-controller Warning InitializeNode(?:Failed|Delayed) /)],
  N10: [place(/^write: patch nodes\/status$/), place(/^Node \S+\.status\.addresses\[/)],
  N18: [
    place(/^Node \S+\.labels\./),
    place(/^Node \S+\.annotations\.cloudwire\.dev\/cloud-labels$/),
    place(/^write: patch nodes$/),
  ],
  N21: [place(/^event: Node \S+ cloud-node-controller Warning NodeDiffersFromCloud /)],
  L2: [
    place(/^Node \S+\.(?:deleting|labels|spec|status)/),
    place(/^event: Node \S+ cloud-node-lifecycle-controller Normal DeletingNode /),
    place(/^write: delete nodes$/),
  ],
  L8: [place(/^Node \S+\.spec\.taints\.node\.cloudprovider\.kubernetes\.io\/shutdown/), place(/^write: patch nodes$/)],
  R12: [place(/^event: Node \S+ route_controller Warning FailedToCreateRoute /)],
  S2: [place(/^event: Service \S+ service-controller Normal DeletingLoadBalancer /)],
  S9: [place(/^write: patch services\/status$/)],
  S12: [
    place(/^event: Service \S+ service-controller Warning UpdateLoadBalancerFailed /),
    place(/^event: Service \S+ service-controller Normal (?:Ensuring|Ensured|Updated)LoadBalancer /),
  ],
  S13: [
    place(/^load balancer of \S+\.targets\[/),
    place(/^event: Service \S+ service-controller Normal UpdatedLoadBalancer /),
  ],
  S18: [place(/^event: Service \S+ service-controller Warning (?:LoadBalancerFeatureIgnored|SyncLoadBalancerFailed) /)],
  S23: [place(/^event: Service \S+ service-controller Warning SyncLoadBalancerFailed /)],
  S30: [
    place(/^Service \S+\.status\.conditions\.cloudwire\.dev\/LoadBalancerReady\./),
    place(/^write: patch services\/status$/),
  ],
};
