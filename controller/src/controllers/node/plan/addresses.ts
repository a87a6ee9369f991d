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
 * status.addresses of a Node that waits: exactly what the cloud says, in its order. No address at all leaves the Node alone; the
 * Node's own Hostname entries stay if the cloud has none. cloud-provider/controllers/node/node_controller.go v0.36.3.
 */
export function planInitialAddresses(node: Node, cloud: readonly NodeAddress[]): AddressPlan {
  return planAddresses(node, cloud, (wanted) => deepEqual(wanted, node.status.addresses));
}

/**
 * status.addresses of a Node that has been initialised. Order alone is no change, as upstream: a cloud that lists in any order would
 * have readers jump from one address to another, and what annotation provided-node-ip asks for is in order. But upstream compares by
 * type, and so sends an empty patch for every dual-stack node each time.
 */
export function planNextAddresses(node: Node, cloud: readonly NodeAddress[]): AddressPlan {
  return planAddresses(node, cloud, (wanted, pinned) => {
    const { addresses } = node.status;
    const first = wanted.slice(0, pinned).map(textOf);
    const shownFirst = addresses.map(textOf).filter((text) => first.includes(text));
    return deepEqual(sorted(wanted), sorted(addresses)) && deepEqual(first, shownFirst);
  });
}

type IsShown = (wanted: readonly NodeAddress[], pinned: number) => boolean;

function planAddresses(node: Node, cloud: readonly NodeAddress[], isShown: IsShown): AddressPlan {
  const annotation = node.metadata.annotations[PROVIDED_NODE_IP];
  const ordered = orderByProvidedNodeIp(annotation, withHostname(node, cloud));
  if (ordered.kind === "mismatch") {
    return { kind: "mismatch", message: `annotation ${PROVIDED_NODE_IP}: ${ordered.message}` };
  }
  const { addresses, pinned } = ordered;
  return cloud.length === 0 || isShown(addresses, pinned) ? { kind: "keep" } : { kind: "write", addresses };
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

function sorted(addresses: readonly NodeAddress[]): readonly string[] {
  return addresses.map(textOf).toSorted();
}

function textOf({ type, address }: NodeAddress): string {
  return `${type} ${address}`;
}
