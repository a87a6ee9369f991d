import { PROVIDED_NODE_IP } from "../../../api/annotations.ts";
import type { Node, NodeAddress } from "../../../api/node.ts";
import type { JsonObject } from "../../../kube/client.ts";
import { deepEqual } from "../../../util/equal.ts";
import { orderByProvidedNodeIp } from "./provided-node-ip.ts";

const HOSTNAME = "Hostname";

/** What shall become of status.addresses. */
export type AddressPlan =
  | { readonly kind: "keep" }
  | { readonly kind: "write"; readonly addresses: readonly NodeAddress[] }
  | { readonly kind: "mismatch"; readonly message: string };

/**
 * status.addresses from what the cloud says. No address at all leaves the Node alone; the Node's own Hostname entries stay if
 * the cloud has none. Lists are compared in order: upstream compares by type, and so sends an empty patch for every
 * dual-stack node each time. cloud-provider/controllers/node/node_controller.go v0.36.3.
 */
export function planAddresses(node: Node, cloud: readonly NodeAddress[]): AddressPlan {
  const annotation = node.metadata.annotations[PROVIDED_NODE_IP];
  const ordered = orderByProvidedNodeIp(annotation, withHostname(node, cloud));
  if (ordered.kind === "mismatch") {
    return { kind: "mismatch", message: `annotation ${PROVIDED_NODE_IP}: ${ordered.message}` };
  }
  if (cloud.length === 0 || deepEqual(ordered.addresses, node.status.addresses)) return { kind: "keep" };
  return { kind: "write", addresses: ordered.addresses };
}

/**
 * Strategic merge patch for nodes/status. The list merges by type, so a list that has entries must be replaced as a whole or
 * two addresses of one type would be folded into one.
 */
export function addressesPatch(node: Node, addresses: readonly NodeAddress[]): JsonObject {
  const wanted: JsonObject[] = addresses.map(({ type, address }) => ({ type, address }));
  if (node.status.addresses.length > 0) wanted.push({ $patch: "replace" });
  return { metadata: { uid: node.metadata.uid }, status: { addresses: wanted } };
}

function withHostname(node: Node, cloud: readonly NodeAddress[]): readonly NodeAddress[] {
  if (cloud.some(({ type }) => type === HOSTNAME)) return cloud;
  return [...cloud, ...node.status.addresses.filter(({ type }) => type === HOSTNAME)];
}
