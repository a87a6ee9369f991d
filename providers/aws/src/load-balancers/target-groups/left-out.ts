import type { TargetNode, UnregisteredNode } from "@cloudwire/provider-sdk";
import type { KnownMachine } from "../../instances/to-instance.ts";
import type { Work } from "../tools.ts";

/** Why a machine is not a target. */
export interface LeftOut {
  /** CamelCase. */
  readonly reason: string;
  /** What the machine is instead, after its ID. */
  readonly message: string;
  /** True: it can never be a target of this load balancer. */
  readonly isFinal?: boolean | undefined;
}

/** Codes for single targets, with which AWS refuses all targets of a request. */
export const refusals: ReadonlyMap<string, LeftOut> = new Map([
  ["InvalidTarget", { reason: "InstanceNotRunning", message: "does not run; it is registered when it runs" }],
  [
    "TooManyRegistrationsForTargetId",
    {
      reason: "TargetQuotaExceeded",
      message: "is a target of as many groups as AWS permits; it is registered when one has room",
    },
  ],
]);

/** Undefined: AWS takes it as a target. */
export function leftOutOf(machine: KnownMachine | undefined, vpcId: string): LeftOut | undefined {
  const state = machine?.State?.Name;
  if (machine === undefined) {
    return {
      reason: "InstanceNotFound",
      message: "is not returned by EC2; it is registered when EC2 returns it as running",
    };
  }
  if (state === "terminated") return { reason: "InstanceTerminated", message: "is terminated", isFinal: true };
  if (machine.VpcId !== vpcId) {
    return { reason: "InstanceInOtherVPC", message: `is not in ${vpcId}, the VPC of the load balancer`, isFinal: true };
  }
  if (state === "running") return undefined;
  return { reason: "InstanceNotRunning", message: `is ${state ?? "not running"}; it is registered when it runs` };
}

/** The nodes that are not targets yet. Those that can never be are reported to the user here. */
export function unregisteredNodes(
  leftOut: ReadonlyMap<string, LeftOut>,
  wanted: ReadonlyMap<string, TargetNode>,
  { context }: Work,
): readonly UnregisteredNode[] {
  const final = [...leftOut].filter(([, { isFinal }]) => isFinal);
  if (final.length > 0) {
    const summary = `No targets: ${someOf(final.map(([id, { message }]) => `${id} ${message}`))}`;
    context.addDiagnostic({ reason: "TargetsNotFound", summary });
  }
  return [...leftOut].flatMap(([id, { reason, message, isFinal }]) => {
    const node = wanted.get(id);
    if (node === undefined || isFinal) return [];
    return [{ name: node.name, providerId: node.providerId, reason, message: `Instance ${id} ${message}` }];
  });
}

const maxShown = 5;

export function someOf(items: readonly string[]): string {
  const more = items.length > maxShown ? ` and ${items.length - maxShown} more` : "";
  return `${items.slice(0, maxShown).join(", ")}${more}`;
}
