import { type EventInput, FAILED_TO_CREATE_ROUTE, ROUTE_TABLE_FULL, ROUTE_TABLE_NEARLY_FULL } from "../../api/event.ts";
import { type Node, nodeReference } from "../../api/node.ts";
import type { RouteQuota } from "../../provider/model/route.ts";

/** The namespace whose UID is the cluster's identity stands for the cluster: route tables belong to no one node. */
const CLUSTER = { apiVersion: "v1", kind: "Namespace", namespace: "", name: "kube-system", uid: "" } as const;

/** Upstream's text without the duration, which made each one an event of its own. */
export function failedToCreateRoute(node: Node, nameHint: string, cidr: string, why: string): EventInput {
  const message = `Could not create route ${nameHint} ${cidr} for node ${node.metadata.name}: ${why}`;
  return { regarding: nodeReference(node), type: "Warning", reason: FAILED_TO_CREATE_ROUTE, message };
}

/** New nodes will soon be without route. Without the number in use, which would make each one an event of its own. */
export function routeTableNearlyFull(provider: string, { limit }: RouteQuota, percent: number): EventInput {
  const message = `Route table of provider ${provider} is more than ${percent} % full (limit ${limit}): raise the limit at the cloud or remove routes before nodes are added`;
  return { regarding: CLUSTER, type: "Warning", reason: ROUTE_TABLE_NEARLY_FULL, message };
}

/** New nodes are without route. */
export function routeTableFull(provider: string, { limit }: RouteQuota): EventInput {
  const message = `Route table of provider ${provider} is full (limit ${limit}): new nodes get no route until the limit is raised at the cloud or routes are removed`;
  return { regarding: CLUSTER, type: "Warning", reason: ROUTE_TABLE_FULL, message };
}
