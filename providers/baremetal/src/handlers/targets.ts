import type { ChangeContext, TargetNode } from "@cloudwire/provider-sdk";
import { internalAddress, type Machines } from "../inventory/machine.ts";
import type { Target } from "../state/state.ts";
import { canonicalAddress } from "@cloudwire/provider-sdk/addresses";

const families = [4, 6] as const;

/** Where the nodes are reached: of own machines at the addresses of the inventory, of others at those of the Node. */
export function targetsFor(
  nodes: readonly TargetNode[],
  machines: Machines,
  context: Pick<ChangeContext, "addDiagnostic">,
): readonly Target[] {
  const targets = nodes.flatMap((node) => {
    const machine = node.id === undefined ? undefined : machines.byId.get(node.id);
    // A source with problems does not prove an absence.
    if (node.id !== undefined && machine === undefined && machines.problems.length === 0) {
      leftOut(context, node, "its machine is not in the inventory");
      return [];
    }
    const known = machine?.addresses ?? node.addresses;
    const addresses = families.flatMap((family) => internalAddress(known, family) ?? []);
    const first = node.ip === undefined ? undefined : canonicalAddress(node.ip);
    const found = addresses.length > 0 || first === undefined ? addresses : [first];
    if (found.length === 0) leftOut(context, node, "it has no InternalIP");
    return found.length === 0 ? [] : { name: node.name.replaceAll(/[^A-Za-z0-9.-]/g, "-"), addresses: found };
  });
  return targets.toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

function leftOut(context: Pick<ChangeContext, "addDiagnostic">, { name }: TargetNode, why: string): void {
  context.addDiagnostic({ reason: "NodeLeftOut", summary: `Node ${name} gets no traffic: ${why}` });
}
