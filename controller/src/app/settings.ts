import { flagOfKey } from "../options/table.ts";
import { type Options, flagName, flags } from "./options.ts";

/** A setting, as those need to know it who write configurations. */
export interface Setting {
  /** In the configuration file: `Generic.LeaderElection.LeaseDuration`. */
  readonly path: string;
  /** Without dashes: `leader-elect-lease-duration`. */
  readonly flag: string;
  /** A change of the file takes effect without a restart. */
  readonly isReloadable: boolean;
}

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
  profiling: "Generic.Debugging.EnableProfiling",
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

/** Paths of settings of upstream's that are taken without effect, and the flag in unusedFlags that says why. */
export const unusedPaths: ReadonlyMap<string, string> = new Map([
  ["Generic.MinResyncPeriod", "min-resync-period"],
  ["Generic.ControllerStartInterval", "controller-start-interval"],
  ["Generic.ClientConnection.ContentType", "kube-api-content-type"],
  ["Generic.LeaderElection.ResourceLock", "leader-elect-resource-lock"],
  ["Generic.Debugging.EnableContentionProfiling", "contention-profiling"],
  ["KubeCloudShared.CloudProvider.Name", "cloud-provider"],
  ["KubeCloudShared.CloudProvider.CloudConfigFile", "cloud-config"],
  ["KubeCloudShared.ExternalCloudVolumePlugin", "external-cloud-volume-plugin"],
  ["KubeCloudShared.UseServiceAccountCredentials", "use-service-account-credentials"],
  ["KubeCloudShared.AllowUntaggedCloud", "allow-untagged-cloud"],
  ["KubeCloudShared.NodeSyncPeriod", "node-sync-period"],
  ["NodeController.ConcurrentNodeStatusUpdates", "concurrent-node-status-updates"],
]);

/** Paths that others are below of. */
export const sections: ReadonlySet<string> = new Set(
  [...configPaths.keys(), ...unusedPaths.keys()].flatMap((path) => {
    const names = path.split(".");
    return names.slice(1).map((_, index) => names.slice(0, index + 1).join("."));
  }),
);

/** Every setting of the configuration file, in the order of `--help`. */
export const SETTINGS: readonly Setting[] = [...configPaths].map(([path, key]) => ({
  path,
  flag: flagName(key),
  isReloadable: flagOfKey(key)?.reloadable === true,
}));
