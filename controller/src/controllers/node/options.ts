import { choiceFlag, durationFlag, numberFlag } from "../../options/flag.ts";
import type { OptionsOf } from "../../options/table.ts";

export const nodeFlags = {
  concurrentNodeSyncs: numberFlag({
    path: "NodeController.ConcurrentNodeSyncs",
    group: "controllers",
    valueName: "number",
    defaultValue: 64,
    min: 1,
    max: 1000,
    whole: true,
    help: "nodes that are updated concurrently; look-ups are batched separately",
    differs: "it only limits writes: look-ups share cloud calls",
  }),
  nodeStatusUpdateFrequency: durationFlag({
    path: "NodeStatusUpdateFrequency",
    group: "controllers",
    reloadable: true,
    defaultValue: 300_000,
    min: 10_000,
    help: "how often the instance of each node is read again",
  }),
  nodeAddressTimeout: durationFlag({
    group: "controllers",
    reloadable: true,
    defaultValue: 300_000,
    min: 0,
    help: "how long the initialization of a node waits for an IP address of its instance; 0 does not wait",
  }),
  nodeTopologyPolicy: choiceFlag({
    group: "controllers",
    choices: ["warn", "follow", "ignore"],
    defaultValue: "warn",
    help: "how to treat zone and region labels that differ from the instance: warn reports them, follow updates them, ignore does neither",
  }),
} as const;

export type NodeOptions = OptionsOf<typeof nodeFlags>;
