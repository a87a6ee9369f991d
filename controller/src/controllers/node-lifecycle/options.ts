import { boolFlag, durationFlag, numberFlag } from "../../options/flag.ts";
import type { OptionsOf } from "../../options/table.ts";

export const nodeLifecycleFlags = {
  nodeMonitorPeriod: durationFlag({
    path: "NodeLifecycleController.NodeMonitorPeriod",
    previousPath: "KubeCloudShared.NodeMonitorPeriod",
    group: "controllers",
    reloadable: true,
    defaultValue: 5000,
    min: 1000,
    help: "how soon the instance of a node that is not ready is looked up again; lookups become less frequent while nothing changes",
    differs: "lookups become less frequent while nothing changes, and a node is deleted only after several lookups",
  }),
  concurrentNodeLifecycleSyncs: numberFlag({
    path: "NodeLifecycleController.ConcurrentNodeLifecycleSyncs",
    group: "controllers",
    valueName: "number",
    defaultValue: 16,
    min: 1,
    max: 1000,
    whole: true,
    help: "nodes that are deleted or tainted concurrently; lookups are batched separately",
    differs: "it only limits writes: lookups share cloud calls",
  }),
  nodeDeletionConfirmations: numberFlag({
    group: "controllers",
    reloadable: true,
    valueName: "number",
    defaultValue: 2,
    min: 2,
    max: 100,
    whole: true,
    help: "consecutive lookups that must report an instance as absent before its node is deleted",
  }),
  nodeDeletionConfirmationPeriod: durationFlag({
    group: "controllers",
    reloadable: true,
    defaultValue: 30_000,
    min: 1000,
    help: "minimum time from the first of these lookups to the last; also the maximum time between two lookups of a node that is not ready",
  }),
  nodeDeletionMaxPercent: numberFlag({
    group: "controllers",
    reloadable: true,
    valueName: "percent",
    defaultValue: 10,
    min: 0,
    max: 100,
    whole: true,
    help: "share of a provider's nodes that may be deleted within 10 minutes without approval; 3 are always allowed",
  }),
  nodeDeletionProtection: boolFlag({
    group: "controllers",
    reloadable: true,
    defaultValue: false,
    help: "delete no node: nodes whose instance is stopped are still tainted; annotation cloudwire.dev/deletion-protection protects a single node",
  }),
} as const;

export type NodeLifecycleOptions = OptionsOf<typeof nodeLifecycleFlags>;
