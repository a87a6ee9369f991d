import { boolFlag, durationFlag } from "../../options/flag.ts";
import type { OptionsOf } from "../../options/table.ts";

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

export type RouteOptions = OptionsOf<typeof routeFlags>;
