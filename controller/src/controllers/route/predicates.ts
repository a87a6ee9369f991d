import { NETWORK_UNAVAILABLE, type Node, type NodeCondition } from "../../api/node.ts";
import { deepEqual } from "../../util/equal.ts";

/** Node names contain no slash, so that these keys are unique. */
const PREFIX = "provider/";

export function passKey(provider: string): string {
  return `${PREFIX}${provider}`;
}

/** undefined: it is the key of a Node. */
export function providerOfPassKey(key: string): string | undefined {
  return key.startsWith(PREFIX) ? key.slice(PREFIX.length) : undefined;
}

export function changesRoutes(old: Node, node: Node): boolean {
  return (
    old.metadata.uid !== node.metadata.uid ||
    old.spec.providerID !== node.spec.providerID ||
    !deepEqual(old.spec.podCIDRs, node.spec.podCIDRs) ||
    !deepEqual(old.status.addresses, node.status.addresses)
  );
}

export function changesNetworkCondition(old: Node, node: Node): boolean {
  const [before, after] = [networkConditionOf(old), networkConditionOf(node)];
  return before?.status !== after?.status || before?.reason !== after?.reason;
}

export function networkConditionOf({ status }: Node): NodeCondition | undefined {
  return status.conditions.find(({ type }) => type === NETWORK_UNAVAILABLE);
}

export function isUnrouted(node: Node): boolean {
  return networkConditionOf(node)?.status === "True";
}
