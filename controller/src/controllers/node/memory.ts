import type { Node } from "../../api/node.ts";
import { OwnWrites } from "../../kube/cache/own-writes.ts";
import type { Clock } from "../../util/clock.ts";
import { Differences } from "./differences.ts";
import type { NodeMetrics } from "./metrics.ts";
import { ProviderIds } from "./provider-ids.ts";
import { RefreshSchedule, type RefreshSettings } from "./node-cache.ts";
import { RepairPace } from "./repair-pace.ts";
import { Sightings } from "./sightings.ts";
import { WaitingNodes } from "./waiting-nodes.ts";

/** What this controller remembers of Nodes, each by name. All of it may be lost: it is found again. */
export interface Memory {
  readonly refreshes: RefreshSchedule;
  readonly sightings: Sightings;
  readonly providerIds: ProviderIds;
  readonly waiting: WaitingNodes;
  readonly differences: Differences;
  readonly repairs: RepairPace;
  readonly ownWrites: OwnWrites<Node>;
}

export function createMemory(settings: RefreshSettings, metrics: NodeMetrics, clock: Clock): Memory {
  return {
    refreshes: new RefreshSchedule(settings, clock),
    sightings: new Sightings(),
    providerIds: new ProviderIds(),
    waiting: new WaitingNodes(metrics, clock),
    differences: new Differences(metrics.differences),
    repairs: new RepairPace(clock),
    ownWrites: new OwnWrites<Node>(),
  };
}

/** The Node is gone. */
export function forgetNode(memory: Memory, name: string): void {
  for (const part of Object.values(memory)) part.forget(name);
}
