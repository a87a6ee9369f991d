import type { TargetNode, UnregisteredNode } from "@cloudwire/provider-sdk";
import { internalAddress, machineOf, type Machines } from "../inventory/machine.ts";
import type { Target } from "../state/state.ts";
import { canonicalAddress } from "@cloudwire/provider-sdk/addresses";

const families = [4, 6] as const;

/** Where the nodes are reached, and which are not targets yet. */
export interface TargetChoice {
  readonly targets: readonly Target[];
  readonly unregisteredNodes: readonly UnregisteredNode[];
}

/** Own machines are reached at the addresses of the inventory, others at those of the Node. As long as no node is reached, the present targets stay. */
export function targetsFor(
  nodes: readonly TargetNode[],
  machines: Machines,
  present: readonly Target[] = [],
): TargetChoice {
  const unregisteredNodes: UnregisteredNode[] = [];
  const leaveOut = ({ name, providerId }: TargetNode, reason: string, message: string): void => {
    unregisteredNodes.push({ name, providerId, reason, message });
  };
  const targets = nodes.flatMap((node) => {
    const machine = node.id === undefined ? undefined : machineOf(machines, node.id);
    // A source with problems does not prove an absence.
    if (node.id !== undefined && machine === undefined && machines.problems.length === 0) {
      leaveOut(node, "NotInInventory", "The machine is not in the inventory; it is registered when it is");
      return [];
    }
    const known = machine?.addresses ?? node.addresses;
    const addresses = families.flatMap((family) => internalAddress(known, family) ?? []);
    const first = node.ip === undefined ? undefined : canonicalAddress(node.ip);
    const found = addresses.length > 0 || first === undefined ? addresses : [first];
    if (found.length === 0)
      leaveOut(node, "NoInternalIP", "The Node has no InternalIP; it is registered when it has one");
    return found.length === 0 ? [] : { name: node.name.replaceAll(/[^A-Za-z0-9.-]/g, "-"), addresses: found };
  });
  if (targets.length === 0 && nodes.length > 0) return { targets: present, unregisteredNodes };
  return { targets: targets.toSorted((left, right) => (left.name < right.name ? -1 : 1)), unregisteredNodes };
}
