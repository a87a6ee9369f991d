import { PAGES, type ReasonRow, rowsOf } from "./row.ts";

const route = rowsOf(["route"], PAGES.limits);

/** Causes of problems with routes. */
export const ROUTE_REASONS = {
  RoutesNotSupported: route(
    "unmanaged",
    "The Node's provider does not support routes.",
    "If pods of other nodes are reached through an overlay network, no action is needed. Otherwise run a provider that supports routes.",
  ),
  NoPodCIDR: rowsOf(["route"], "docs/explanation/node-ipam.md")(
    "waiting",
    "The Node has no pod CIDR yet.",
    "Check that node-ipam-controller runs, here or in kube-controller-manager, and that the cluster CIDR is not exhausted.",
  ),
  NoProviderID: rowsOf(["route"], PAGES.nodes)(
    "waiting",
    "The Node has no provider ID yet, so a route cannot target its instance.",
    "`cloudwire explain node/NAME` shows why the Node is not initialized.",
  ),
  RouteTableFull: route(
    "blocked",
    "The cloud's route table is full.",
    "Request a higher limit, or delete unneeded routes. The controller creates the route when another route is deleted.",
  ),
  CIDRConflict: route(
    "blocked",
    "The pod CIDR overlaps that of another Node, or a route for the same CIDR has another target and does not belong to this Node.",
    "If the message names another Node, delete one of the two Nodes. Otherwise, find the owner of the route in the cloud, and remove the route.",
  ),
  RouteMissing: { ...route("waiting", "The Node has no route."), of: ["node", "route"] },
} as const satisfies Readonly<Record<string, ReasonRow>>;
