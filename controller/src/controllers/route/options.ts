import { type ClusterOptions, readCidrs } from "../../kube/options.ts";
import { boolFlag, durationFlag } from "../../options/flag.ts";
import type { OptionsOf } from "../../options/table.ts";
import type { Cidr } from "../../util/cidr.ts";

export const routeFlags = {
  configureCloudRoutes: boolFlag({
    path: "KubeCloudShared.ConfigureCloudRoutes",
    group: "controllers",
    defaultValue: true,
    help: "manage routes to nodes' pod ranges, where the provider serves routes and --cluster-cidr is given",
  }),
  routeReconciliationPeriod: durationFlag({
    path: "KubeCloudShared.RouteReconciliationPeriod",
    group: "controllers",
    reloadable: true,
    defaultValue: 300_000,
    min: 1000,
    help: "how often all routes are listed and compared; the provider may ask for longer",
    differs:
      "upstream sees changes no other way; here nodes wake the controller, and the list finds what others changed",
  }),
} as const;

/** Its own flags, and the range of all pods. */
export interface RouteOptions extends OptionsOf<typeof routeFlags>, Pick<ClusterOptions, "clusterCidr"> {}

/**
 * Why there are no routes to be managed; undefined: there are. Upstream ends the process for an empty --cluster-cidr:
 * cloud-provider/app/core.go v0.36.3.
 */
export function whyNoRoutes({
  configureCloudRoutes,
  clusterCidr,
}: Pick<RouteOptions, "configureCloudRoutes" | "clusterCidr">): string | undefined {
  if (!configureCloudRoutes) return "--configure-cloud-routes is false";
  return clusterCidr === "" ? "--cluster-cidr is not given" : undefined;
}

/** Ranges of all pods. */
export function clusterCidrsOf({ clusterCidr }: Pick<RouteOptions, "clusterCidr">): readonly Cidr[] {
  return readCidrs(clusterCidr);
}
