import { PAGES, type ReasonRow } from "./row.ts";

/** What stands in the way of a route. */
export const ROUTE_REASONS = {
  NoRoutesMade: {
    of: ["route"],
    state: "unmanaged",
    message: "The Node's provider makes no routes.",
    remedy:
      "If pods of other nodes are reached by an overlay, nothing is to be done; else run a provider that makes routes.",
    documentation: PAGES.limits,
  },
  NoPodCidr: {
    of: ["route"],
    state: "waiting",
    message: "The Node has no range of pod addresses yet.",
    remedy:
      "See that node-ipam-controller runs here or in kube-controller-manager, and that the cluster's range is not used up.",
    documentation: "docs/explanation/node-ipam.md",
  },
  NoProviderId: {
    of: ["route"],
    state: "waiting",
    message: "The Node has no provider ID yet, so no route can lead to its machine.",
    remedy: "`cloudwire explain node/NAME` says why it is not initialized.",
    documentation: PAGES.nodes,
  },
  RouteTableFull: {
    of: ["route"],
    state: "blocked",
    message: "The cloud's route table is full.",
    remedy:
      "Have the limit raised at the cloud, or remove routes that nobody needs. The route is made as soon as one is removed.",
    documentation: PAGES.limits,
  },
  RangeTaken: {
    of: ["route"],
    state: "blocked",
    message: "A route for the same range leads somewhere else, and is not this Node's.",
    remedy: "Find whose route it is at the cloud, or which two Nodes have one range, and take one away.",
    documentation: PAGES.limits,
  },
  RouteMissing: {
    of: ["node", "route"],
    state: "waiting",
    message: "The Node has no route.",
    documentation: PAGES.limits,
  },
} as const satisfies Readonly<Record<string, ReasonRow>>;
