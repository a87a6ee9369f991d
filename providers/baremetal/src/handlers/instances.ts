import {
  absent,
  type CallContext,
  type Instance,
  type InstanceBatchResult,
  type InstanceHandlers,
  type NodeRef,
  ProviderError,
  watchFromList,
} from "@cloudwire/provider-sdk";
import type { MachineSource } from "../inventory/inventory-files.ts";
import { machineOf, type Machines, toInstance } from "../inventory/machine.ts";
import { machineIdPattern } from "../inventory/parse-inventory.ts";

const watchIntervalMs = 2_000;

export function instanceHandlers(source: MachineSource): InstanceHandlers {
  const read = async (context: CallContext): Promise<Machines> => {
    context.recordCloudCall({});
    return source.read();
  };
  const list = async function* (context: CallContext): AsyncGenerator<Instance> {
    const machines = await read(context);
    if (machines.problems.length > 0) throw unusable(machines);
    for (const machine of machines.byId.values()) yield toInstance(machine);
  };
  return {
    features: {
      maxBatchSize: 1000,
      podCidrs: true,
      list: { maxPageSize: 1000, consistentSnapshot: true },
      watch: { expectedLatencyMs: watchIntervalMs },
    },
    getMany: async (nodes, context) => {
      const machines = await read(context);
      return nodes.map((node) => answerFor(node, machines));
    },
    list,
    watch: watchFromList.instances(list, { intervalMs: watchIntervalMs }),
  };
}

/** The result for one Node. Only a source without problems proves an absence. */
export function answerFor(node: NodeRef, machines: Machines): InstanceBatchResult {
  if (node.id !== undefined && !machineIdPattern.test(node.id.toLowerCase())) {
    const message = `provider ID ${node.providerId ?? node.id} of node ${node.name} is invalid: it may contain a-z, 0-9, ".", "_" and "-"`;
    return new ProviderError("PROVIDER_ID_MALFORMED", message);
  }
  const found =
    node.id === undefined ? (machines.byName.get(node.name) ?? []) : [machineOf(machines, node.id) ?? []].flat();
  const [machine, ...more] = found;
  if (more.length > 0) {
    const message = `${found.length} machines have the name ${node.name}: ${found.map(({ id }) => id).join(", ")}`;
    return new ProviderError("AMBIGUOUS_NAME", message, { metadata: { matches: String(found.length) } });
  }
  if (machine !== undefined) return { ...toInstance(machine), readTime: machines.readTime };
  if (machines.problems.length > 0) return unusable(machines);
  return absent("COMPLETE_LIST_MISS", { observeTime: machines.readTime, stronglyConsistent: true });
}

/** A missing entry of the source is not conclusive. */
export function unusable({ problems: [first = "", ...others] }: Machines): ProviderError {
  const more = others.length > 0 ? ` (and ${others.length} more problems, see the log)` : "";
  return new ProviderError("INCOMPLETE_ANSWER", `not all machines are known: ${withoutPath(first)}${more}`);
}

/** [ERR-4]: no paths of this machine in what callers see. */
function withoutPath(problem: string): string {
  return problem.replaceAll(/(?:\/[\w.-]+)+\/(?=[\w.-]+)/g, "");
}
