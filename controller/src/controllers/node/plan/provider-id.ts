import type { Node } from "../../../api/node.ts";
import type { Difference } from "./labels.ts";

/** What speaks for or against the machine that a Node names. */
export interface Identity {
  /** How the cloud calls the machine that it found by the Node's provider ID; undefined: it found none. */
  readonly providerId: string | undefined;
  /** Provider ID of the machine that has the Node's name; undefined: there is none, or it was not asked for. */
  readonly namesakeId: string | undefined;
  /** Names of other Nodes with the same provider ID. */
  readonly rivals: readonly string[];
}

/**
 * Why spec.providerID is probably not the machine's on which this kubelet runs; undefined: nothing speaks against it. That the machine
 * is called otherwise than the Node proves nothing: only if another one has the name, or another Node the ID, is something wrong.
 */
export function providerIdDifference(node: Node, identity: Identity): Difference | undefined {
  const message = doubt(node, identity);
  return message === undefined ? undefined : { field: "providerID", message };
}

const ADVICE =
  "the provider ID of a Node cannot be changed: see that its kubelet runs with the right --provider-id, delete the Node and let it register again";

function doubt({ metadata, spec }: Node, { providerId, namesakeId, rivals }: Identity): string | undefined {
  const { providerID } = spec;
  if (providerID === "") return undefined;
  const [rival] = rivals;
  if (rival !== undefined) {
    return `node ${rival} has the same provider ID ${providerID}, and a machine can be only one of them; ${ADVICE}`;
  }
  if (namesakeId !== undefined && !isSameMachine(namesakeId, providerID)) {
    const found = providerId === undefined ? "which the cloud does not know" : "which the cloud calls otherwise";
    return `the Node has provider ID ${providerID}, ${found}, while the machine of the name ${metadata.name} has ${namesakeId}; ${ADVICE}`;
  }
  if (providerId !== undefined && !isSameMachine(providerId, providerID)) {
    return `the Node has provider ID ${providerID}, the cloud gives this machine ${providerId}; ${ADVICE}`;
  }
  return undefined;
}

/** Clouds spell an ID in capitals or not, and providers have older prefixes: that is no other machine. */
export function isSameMachine(one: string, other: string): boolean {
  return restOf(one) === restOf(other);
}

function restOf(providerId: string): string {
  return providerId.slice(providerId.indexOf("://") + 1).toLowerCase();
}
