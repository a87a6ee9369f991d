import { NETWORK_UNAVAILABLE, type Node } from "../../../api/node.ts";
import type { JsonObject } from "../../../kube/client.ts";
import { networkConditionOf } from "../predicates.ts";

/** What a Node is to say of its routes: all there, or not. undefined: nothing. */
export type Network = "routed" | "unrouted" | undefined;

/** Status, reason, message: cloud-provider/controllers/route/route_controller.go v0.36.3. */
const SAYINGS = {
  routed: { status: "False", reason: "RouteCreated", message: "RouteController created a route" },
  unrouted: { status: "True", reason: "NoRouteCreated", message: "RouteController failed to create a route" },
} as const;

/** Strategic merge patch of nodes/status; undefined: the Node says so already. As upstream, the message is not compared. */
export function networkPatch(node: Node, network: Network, nowMs: number): JsonObject | undefined {
  if (network === undefined) return undefined;
  const { status, reason, message } = SAYINGS[network];
  const current = networkConditionOf(node);
  if (current?.status === status && current.reason === reason) return undefined;
  const now = new Date(nowMs).toISOString().replace(/\.\d{3}/, "");
  const condition = { type: NETWORK_UNAVAILABLE, status, reason, message };
  return {
    metadata: { uid: node.metadata.uid },
    status: { conditions: [{ ...condition, lastHeartbeatTime: now, lastTransitionTime: now }] },
  };
}

/** The Node does not say so yet. */
export function needsSaying(node: Node, network: Network): boolean {
  return networkPatch(node, network, 0) !== undefined;
}
