import { flags, type Options } from "./options.ts";

/**
 * Where settings that upstream has as well stand in its CloudControllerManagerConfiguration (cloud-provider/config/v1alpha1 and
 * controller-manager/config/v1alpha1 v0.36.3; `/configz` shows the same tree).
 */
const UPSTREAM_PATHS: Partial<Record<keyof Options, string>> = {
  kubeconfig: "Generic.ClientConnection.Kubeconfig",
  kubeApiQps: "Generic.ClientConnection.QPS",
  kubeApiBurst: "Generic.ClientConnection.Burst",
  controllers: "Generic.Controllers",
  leaderElect: "Generic.LeaderElection.LeaderElect",
  leaderElectLeaseDuration: "Generic.LeaderElection.LeaseDuration",
  leaderElectRenewDeadline: "Generic.LeaderElection.RenewDeadline",
  leaderElectRetryPeriod: "Generic.LeaderElection.RetryPeriod",
  leaderElectResourceName: "Generic.LeaderElection.ResourceName",
  leaderElectResourceNamespace: "Generic.LeaderElection.ResourceNamespace",
  enableLeaderMigration: "Generic.LeaderMigrationEnabled",
  securePort: "Generic.Port",
  bindAddress: "Generic.Address",
  clusterName: "KubeCloudShared.ClusterName",
  clusterCidr: "KubeCloudShared.ClusterCIDR",
  allocateNodeCidrs: "KubeCloudShared.AllocateNodeCIDRs",
  cidrAllocatorType: "KubeCloudShared.CIDRAllocatorType",
  configureCloudRoutes: "KubeCloudShared.ConfigureCloudRoutes",
  routeReconciliationPeriod: "KubeCloudShared.RouteReconciliationPeriod",
  nodeMonitorPeriod: "KubeCloudShared.NodeMonitorPeriod",
  concurrentNodeSyncs: "NodeController.ConcurrentNodeSyncs",
  concurrentServiceSyncs: "ServiceController.ConcurrentServiceSyncs",
  nodeStatusUpdateFrequency: "NodeStatusUpdateFrequency",
  webhooks: "Webhook.Webhooks",
};

/** The section of settings that upstream does not have. */
const OWN_SECTION = "Cloudwire";

const ownPath = (key: string): string => `${OWN_SECTION}.${key.charAt(0).toUpperCase()}${key.slice(1)}`;

/** Settings that make no sense in a file: the file itself. */
const NOT_IN_FILE: ReadonlySet<string> = new Set(["config"]);

/** Every path of the file and the setting that it sets. */
export const configPaths: ReadonlyMap<string, string> = new Map(
  Object.keys(flags)
    .filter((key) => !NOT_IN_FILE.has(key))
    .map((key) => [Object.entries(UPSTREAM_PATHS).find(([name]) => name === key)?.[1] ?? ownPath(key), key]),
);
