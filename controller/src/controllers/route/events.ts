import { type EventInput, FAILED_TO_CREATE_ROUTE, ROUTE_TABLE_FULL, ROUTE_TABLE_NEARLY_FULL } from "../../api/event.ts";
import { type Node, nodeReference } from "../../api/node.ts";
import type { RouteQuota } from "../../provider/model/route.ts";

/** The object of events about the cluster: its UID is the cluster ID. */
const CLUSTER = { apiVersion: "v1", kind: "Namespace", namespace: "", name: "kube-system", uid: "" } as const;

/** Upstream's text without the duration, which makes each event unique. */
export function failedToCreateRoute(node: Node, nameHint: string, cidr: string, why: string): EventInput {
  const message = `Could not create route ${nameHint} ${cidr} for node ${node.metadata.name}: ${why}`;
  return { regarding: nodeReference(node), type: "Warning", reason: FAILED_TO_CREATE_ROUTE, message };
}

/** Without the number in use, which would make each event unique. */
export function routeTableNearlyFull(provider: string, { limit }: RouteQuota, percent: number): EventInput {
  const message = `Route table of provider ${provider} is more than ${percent} % full (limit ${limit}): raise the limit in the cloud or remove routes before nodes are added`;
  return { regarding: CLUSTER, type: "Warning", reason: ROUTE_TABLE_NEARLY_FULL, message };
}

export function routeTableFull(provider: string, { limit }: RouteQuota): EventInput {
  const message = `Route table of provider ${provider} is full (limit ${limit}): new nodes get no route until the limit is raised in the cloud or routes are removed`;
  return { regarding: CLUSTER, type: "Warning", reason: ROUTE_TABLE_FULL, message };
}
