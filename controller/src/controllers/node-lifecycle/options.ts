import { durationFlag, numberFlag } from "../../options/flag.ts";
import type { OptionsOf } from "../../options/table.ts";

export const nodeLifecycleFlags = {
  nodeMonitorPeriod: durationFlag({
    path: "KubeCloudShared.NodeMonitorPeriod",
    group: "controllers",
    reloadable: true,
    defaultValue: 5000,
    min: 1000,
    help: "how soon a node that is not ready is looked up at the cloud again; looks become rarer while nothing changes",
    differs: "looks become rarer while nothing changes, and a node is deleted only after several of them",
  }),
  nodeDeletionConfirmations: numberFlag({
    group: "controllers",
    reloadable: true,
    valueName: "number",
    defaultValue: 2,
    min: 2,
    max: 100,
    whole: true,
    help: "times in a row the cloud must call a machine absent before its node is deleted",
  }),
  nodeDeletionConfirmationPeriod: durationFlag({
    group: "controllers",
    reloadable: true,
    defaultValue: 30_000,
    min: 1000,
    help: "least time from the first of these times to the last; also the longest between two looks at a node that is not ready",
  }),
  nodeDeletionMaxPercent: numberFlag({
    group: "controllers",
    reloadable: true,
    valueName: "percent",
    defaultValue: 10,
    min: 0,
    max: 100,
    whole: true,
    help: "share of a provider's nodes that may be deleted within 10 minutes without being released, but 3 always may",
  }),
} as const;

export type NodeLifecycleOptions = OptionsOf<typeof nodeLifecycleFlags>;
