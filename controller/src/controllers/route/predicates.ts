import { NETWORK_UNAVAILABLE, type Node, type NodeCondition } from "../../api/node.ts";
import { deepEqual } from "../../util/equal.ts";

/** Names of Nodes have no slash: these keys are none. */
const PREFIX = "provider/";

/** The key of the full pass over a provider's routes. */
export function passKey(provider: string): string {
  return `${PREFIX}${provider}`;
}

/** The provider that a key of a full pass is about; undefined: it is the key of a Node. */
export function providerOfPassKey(key: string): string | undefined {
  return key.startsWith(PREFIX) ? key.slice(PREFIX.length) : undefined;
}

/** A change that can make a difference to the node's routes: which machine they lead to, which ranges, over which addresses. */
export function changesRoutes(old: Node, node: Node): boolean {
  return (
    old.metadata.uid !== node.metadata.uid ||
    old.spec.providerID !== node.spec.providerID ||
    !deepEqual(old.spec.podCIDRs, node.spec.podCIDRs) ||
    !deepEqual(old.status.addresses, node.status.addresses)
  );
}

/** Somebody, perhaps this controller, has changed what the node says of its network. */
export function changesNetworkCondition(old: Node, node: Node): boolean {
  const [before, after] = [networkConditionOf(old), networkConditionOf(node)];
  return before?.status !== after?.status || before?.reason !== after?.reason;
}

/** What the node says of its network; undefined: nothing. */
export function networkConditionOf({ status }: Node): NodeCondition | undefined {
  return status.conditions.find(({ type }) => type === NETWORK_UNAVAILABLE);
}

/** The node says itself that its pods are not reached. */
export function isUnrouted(node: Node): boolean {
  return networkConditionOf(node)?.status === "True";
}
