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
    help: "nodes written at once; many more are looked up together",
    differs: "it limits writes alone: look-ups share cloud calls",
  }),
  nodeStatusUpdateFrequency: durationFlag({
    path: "NodeStatusUpdateFrequency",
    group: "controllers",
    reloadable: true,
    defaultValue: 300_000,
    min: 10_000,
    help: "how often what the cloud says of every node is read again",
  }),
  nodeTopologyPolicy: choiceFlag({
    group: "controllers",
    choices: ["warn", "follow", "ignore"],
    defaultValue: "warn",
    help: "zone and region labels when a machine has moved: left alone and reported, set to what the cloud says, or left alone in silence",
  }),
} as const;

export type NodeOptions = OptionsOf<typeof nodeFlags>;
