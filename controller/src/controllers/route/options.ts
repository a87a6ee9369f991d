import type { AllocatorOptions } from "../../kube/node-cidrs.ts";
import { readCidrs } from "../../kube/options.ts";
import { boolFlag, durationFlag } from "../../options/flag.ts";
import type { OptionsOf } from "../../options/table.ts";
import type { Cidr } from "../../util/cidr.ts";

export const routeFlags = {
  configureCloudRoutes: boolFlag({
    path: "KubeCloudShared.ConfigureCloudRoutes",
    group: "controllers",
    defaultValue: true,
    help: "manage routes to the pod CIDRs of nodes, if the provider supports routes and --cluster-cidr is set",
  }),
  routeReconciliationPeriod: durationFlag({
    path: "KubeCloudShared.RouteReconciliationPeriod",
    group: "controllers",
    reloadable: true,
    defaultValue: 300_000,
    min: 1000,
    help: "how often all routes are listed and compared; the provider can request a longer period",
    differs:
      "upstream detects changes only this way; here changes of nodes trigger the controller, and the list finds changes by others",
  }),
} as const;

export interface RouteOptions extends OptionsOf<typeof routeFlags>, AllocatorOptions {}

/** Why routes are not managed; undefined: they are. Upstream exits if --cluster-cidr is empty: cloud-provider/app/core.go v0.36.3. */
export function whyNoRoutes({
  configureCloudRoutes,
  clusterCidr,
}: Pick<RouteOptions, "configureCloudRoutes" | "clusterCidr">): string | undefined {
  if (!configureCloudRoutes) return "--configure-cloud-routes is false";
  return clusterCidr === "" ? "--cluster-cidr is not given" : undefined;
}

export function clusterCidrsOf({ clusterCidr }: Pick<RouteOptions, "clusterCidr">): readonly Cidr[] {
  return readCidrs(clusterCidr);
}
