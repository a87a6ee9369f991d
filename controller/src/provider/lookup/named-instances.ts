import type { Node } from "../../api/node.ts";
import { Lru } from "../../util/lru.ts";
import type { InstanceAnswer, InstanceResult } from "../model/instance.ts";

/** More Nodes without provider ID than this are unusual. A forgotten one is kept, never deleted. */
const MAX_NODES = 20_000;

/**
 * The provider and scope that had the instance of each Node without provider ID. A name alone identifies no instance: the cloud may list the
 * instance late, know it under another name, or never have had it.
 */
export class NamedInstances {
  /** By the UID of the Node. */
  readonly #owners = new Lru<string, { readonly provider: string; readonly scopeId: string }>(MAX_NODES);

  note({ metadata, spec }: Node, result: InstanceResult): void {
    if (spec.providerID !== "" || result.kind !== "present") return;
    const { provider, scopeId } = result.witness;
    this.#owners.set(metadata.uid, { provider, scopeId });
  }

  /** The absence of a name is the absence of the Node's instance only if the provider had it, or still shows it as terminated. */
  resultOf({ metadata, spec }: Node, answer: InstanceAnswer): InstanceResult {
    if (answer.kind !== "absent" || answer.basis === "terminated" || spec.providerID !== "") return answer;
    const owner = this.#owners.get(metadata.uid);
    const { provider, scopeId } = answer.witness;
    const wasHere = owner?.provider === provider && owner.scopeId === scopeId;
    return wasHere ? answer : { ...answer, kind: "noMatch" };
  }
}
