import type { Node } from "../../api/node.ts";
import { isSameMachine } from "./plan/provider-id.ts";
import type { Sighting } from "./plan.ts";

interface Kept {
  readonly uid: string;
  /** By which the machine was asked for; "": by the Node's name. */
  readonly askedId: string;
  readonly sighting: Sighting;
}

/**
 * What the cloud said last of each Node's machine. An edit of a label is so repaired at once and without another call, also while the
 * cloud is away.
 */
export class Sightings {
  readonly #kept = new Map<string, Kept>();

  /** What was said of the machine that the Node names now. */
  get(node: Node): Sighting | undefined {
    const kept = this.#kept.get(node.metadata.name);
    return kept === undefined || isOfAnother(kept, node) ? undefined : kept.sighting;
  }

  /** What is known is of a machine that the Node does not name any more, or of a Node that had its name before. */
  isOutdated(node: Node): boolean {
    const kept = this.#kept.get(node.metadata.name);
    return kept !== undefined && isOfAnother(kept, node);
  }

  put({ metadata, spec }: Node, { facts, namesake }: Sighting): void {
    const sighting = { facts: facts === undefined ? undefined : trimmed(facts), namesake };
    this.#kept.set(metadata.name, { uid: metadata.uid, askedId: spec.providerID, sighting });
  }

  /** The Node is gone, or its machine nobody's. */
  forget(name: string): void {
    this.#kept.delete(name);
  }
}

function isOfAnother({ uid, askedId, sighting }: Kept, { metadata, spec }: Node): boolean {
  const ids = [askedId, sighting.facts?.providerId ?? askedId];
  return uid !== metadata.uid || !ids.some((id) => isSameMachine(id, spec.providerID));
}

/** Only what goes onto Nodes: at 15,000 of them the rest would be megabytes. */
function trimmed({ providerId, name, instanceType, zone, region, addresses, labels }: NonNullable<Sighting["facts"]>) {
  return { providerId, name, instanceType, zone, region, addresses, labels };
}
