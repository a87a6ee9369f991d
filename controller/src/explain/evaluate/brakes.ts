import type { BrakeStanding } from "@cloudwire/operator-api";
import type { Why } from "../../runtime/result.ts";
import { holdReason } from "./node.ts";

/** Why a Node that is not Ready stays, as the last reconcile of cloud-node-lifecycle-controller has it. */
export interface Held {
  /** Whose the Node is. */
  readonly provider: string;
  readonly why: Why;
}

/** How the brake of each provider's Nodes stands, by what is said of the Nodes themselves; a provider without any is not there. */
export function brakesOf(nodes: Iterable<Held>): ReadonlyMap<string, BrakeStanding> {
  const brakes = new Map<string, BrakeStanding>();
  for (const { provider, why } of nodes) {
    const reason = holdReason(why);
    if (reason === undefined || reason === "MachineStateUnknown") continue;
    const { gone, ...before } = brakes.get(provider) ?? { holds: false, gone: 0 };
    const now = reason === "DeletionBrake" ? { holds: true, message: why.message } : before;
    brakes.set(provider, { ...now, gone: gone + 1 });
  }
  return brakes;
}
