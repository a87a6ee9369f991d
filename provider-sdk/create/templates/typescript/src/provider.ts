import {
  absent,
  type InstanceBatchResult,
  type NodeRef,
  type ProviderDefinition,
  ProviderError,
} from "@cloudwire/provider-sdk";
import type { Cloud, Machine } from "./cloud.ts";
import { defineLoadBalancers } from "./load-balancers.ts";

/** What the provider IDs of this cloud's machines begin with. */
export const idPrefix = "acme://";

/** What this provider is and can do. A method that is not here is a capability that it does not claim. */
export const defineProvider = (cloud: Cloud, version: string): ProviderDefinition => ({
  name: "acme.example.com",
  version,
  idPrefix,
  // When this changes, the controller stops everything that destroys: other credentials see other machines.
  scope: (context) => cloud.accountId(context),
  check: async (context) => void (await cloud.accountId(context)),
  instances: {
    async getMany(nodes, context) {
      const machines = await cloud.machines(context, {
        ids: nodes.flatMap(({ id }) => id ?? []),
        names: nodes.flatMap(({ id, name }) => (id === undefined ? name : [])),
      });
      return nodes.map((node) => answer(node, machines));
    },
    async *list(context) {
      for await (const machine of cloud.allMachines(context)) {
        if (machine.power !== "terminated") yield toInstance(machine);
      }
    },
  },
  loadBalancers: defineLoadBalancers(cloud),
});

const answer = (node: NodeRef, machines: readonly Machine[]): InstanceBatchResult => {
  const [machine, ...others] = machines.filter(({ id, name }) =>
    node.id === undefined ? name === node.name : id === node.id,
  );
  if (!machine) return absent("LOOKUP_MISS");
  if (others.length > 0) {
    const ids = [machine, ...others].map(({ id }) => id).join(", ");
    return new ProviderError("AMBIGUOUS_NAME", `machines ${ids} are all named ${node.name}; give each its own name`, {
      metadata: { matches: ids },
    });
  }
  return machine.power === "terminated" ? absent("TERMINATED") : toInstance(machine);
};

const toInstance = (machine: Machine) => ({
  id: machine.id,
  name: machine.name,
  type: machine.type,
  zone: machine.zone,
  region: machine.region,
  addresses: { InternalIP: machine.privateIps, ExternalIP: machine.publicIps, Hostname: machine.name },
  state: machine.power === "on" ? ("RUNNING" as const) : ("STOPPED" as const),
});
