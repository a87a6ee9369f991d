import { OBJECTS, PAGES, type ReasonRow } from "./row.ts";

/** What stands in the way of a Node. */
export const NODE_REASONS = {
  NodeOwnerless: {
    of: ["node", "route"],
    state: "unmanaged",
    message: "No provider owns the Node.",
    remedy:
      "Run a provider that has the prefix of the Node's provider ID, give its kubelet the right --provider-id, or name the Node with --provider-node-selector. If another program sees to it, nothing is to be done.",
    documentation: PAGES.several,
  },
  NodeContested: {
    of: ["node", "route"],
    state: "blocked",
    message: "Several providers could own the Node, so none of them gets it.",
    remedy: "Give its kubelet --provider-id, or say with --provider-node-selector whose it is.",
    documentation: PAGES.several,
  },
  OwnerUndecided: {
    of: OBJECTS,
    state: "waiting",
    message: "Whose it is cannot be told before another provider has answered.",
    remedy: "See that every provider of --provider runs, or take away those that are not meant to.",
    documentation: PAGES.several,
  },
  MachineNotSeenYet: {
    of: ["node"],
    state: "waiting",
    message: "The cloud does not show the machine yet, as clouds do for some seconds after a machine was made.",
    documentation: PAGES.nodes,
  },
  MachineUnknown: {
    of: ["node"],
    state: "blocked",
    message: "The cloud knows no such machine.",
    remedy:
      "See that kubelet's --hostname-override or --provider-id is that of the machine, and that the provider looks into the account and region in which it is.",
    documentation: PAGES.nodes,
  },
  ProvidedNodeIpUnknown: {
    of: ["node"],
    state: "blocked",
    message: "The address that kubelet was told to use is none of those that the cloud gave the machine.",
    remedy: "Start its kubelet with one of the machine's addresses as --node-ip, or without.",
    documentation: PAGES.nodes,
  },
  NodeLabelsRefused: {
    of: ["node"],
    state: "blocked",
    message: "The cloud's labels cannot be put on the Node.",
    remedy: "Change the labels on the Node that the message names, or those of the machine at the cloud.",
    documentation: PAGES.nodes,
  },
  ProviderIdRefused: {
    of: ["node"],
    state: "blocked",
    message: "The machine cannot be found by the Node's provider ID or name.",
    remedy: "Give its kubelet the --provider-id of its machine, delete the Node and let it register again.",
    documentation: PAGES.nodes,
  },
  DiffersFromCloud: {
    of: ["node"],
    state: "blocked",
    message: "The Node shows something else than its cloud says, and it is not for this program to change it.",
    remedy: "See which of the two is right: the message names the field.",
    documentation: PAGES.nodes,
  },
  DeletionUnconfirmed: {
    of: ["node"],
    state: "waiting",
    message: "The machine is said to be gone, and no such answer counts yet.",
    documentation: PAGES.guard,
  },
  DeletionCounting: {
    of: ["node"],
    state: "waiting",
    message: "The machine is said to be gone; the Node is deleted when enough answers agree over a while.",
    documentation: PAGES.guard,
  },
  DeletionNodeYoung: {
    of: ["node"],
    state: "waiting",
    message: "The machine is said to be gone, and the Node is too young for that to be believed.",
    documentation: PAGES.guard,
  },
  DeletionProviderDoubted: {
    of: ["node"],
    state: "waiting",
    message: "The machine is said to be gone, by a provider that is not well: its word is not taken.",
    remedy: "See to the provider: `cloudwire explain provider/NAME` says what is wrong.",
    documentation: PAGES.guard,
  },
  DeletionProviderFailed: {
    of: ["node"],
    state: "waiting",
    message: "The machine is said to be gone, by a provider that failed or contradicted itself a moment ago.",
    documentation: PAGES.guard,
  },
  DeletionBrake: {
    of: ["node", "provider"],
    state: "blocked",
    message: "More Nodes than usual would go at once, so none of them is deleted.",
    remedy:
      "See at the cloud whether these machines are really gone. If so, release their Nodes with `cloudwire release node-deletion NAME`.",
    documentation: PAGES.guard,
  },
  MachineStateUnknown: {
    of: ["node"],
    state: "waiting",
    message: "The Node is not Ready, and its cloud cannot tell how its machine is: nothing is concluded.",
    documentation: PAGES.guard,
  },
} as const satisfies Readonly<Record<string, ReasonRow>>;
