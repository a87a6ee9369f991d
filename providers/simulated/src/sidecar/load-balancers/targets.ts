import { createHash } from "node:crypto";
import type { ChangeContext, TargetNode, DesiredNodes } from "@cloudwire/provider-sdk";
import type { LoadBalancer } from "../../api/load-balancers.ts";
import { parseId } from "../instances/provider-id.ts";
import { isFingerprintCurrent, metadataKeys } from "./desired-spec.ts";

/** The nodes wanted, in the cloud's terms. */
export interface WantedTargets {
  readonly ids: readonly string[];
  /** As the cloud computes it. */
  readonly digest: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** By the ID of the instance. */
  readonly nodes: ReadonlyMap<string, TargetNode>;
}

interface Places extends Pick<WantedTargets, "ids" | "digest" | "nodes"> {
  /** Nodes whose machines are not in this cloud. */
  readonly foreign: readonly TargetNode[];
}

/** Reads lists of nodes. Many load balancers share one list: it is looked through once, and remembered while it lives. */
export class TargetReader {
  readonly #known = new WeakMap<readonly TargetNode[], Places>();

  /** Nodes whose instances are not in this cloud are reported and left out. */
  read({ nodes, nodesFingerprint }: DesiredNodes, context: Pick<ChangeContext, "addDiagnostic">): WantedTargets {
    const places = this.#known.get(nodes) ?? placesOf(nodes);
    this.#known.set(nodes, places);
    const { ids, digest, nodes: byId, foreign } = places;
    warnAbout(context, foreign);
    const metadata = { [metadataKeys.nodesFingerprint]: nodesFingerprint, [metadataKeys.targetsDigest]: digest };
    return { ids, digest, metadata, nodes: byId };
  }
}

/** True: the targets are as wanted, and their fingerprint if there is one. */
export function hasTargets(existing: LoadBalancer, wanted: WantedTargets): boolean {
  const isSame = existing.targetsDigest === wanted.digest;
  return isSame && isFingerprintCurrent(existing.metadata, metadataKeys.nodesFingerprint, wanted.metadata);
}

function placesOf(nodes: readonly TargetNode[]): Places {
  const found = new Map<string, TargetNode>();
  const foreign: TargetNode[] = [];
  for (const node of nodes) {
    const place = node.id === undefined ? undefined : parseId(node.id);
    if (place === undefined || place instanceof Error) foreign.push(node);
    else found.set(place.instanceId, node);
  }
  // In the order of code points, as the cloud's digest demands.
  const ids = [...found.keys()].toSorted((left, right) => (left < right ? -1 : 1));
  const digest = createHash("sha256");
  for (const id of ids) digest.update(`${id}\n`);
  return { ids, digest: digest.digest("hex"), nodes: found, foreign };
}

const maxShownNodes = 5;

function warnAbout(context: Pick<ChangeContext, "addDiagnostic">, nodes: readonly TargetNode[]): void {
  if (nodes.length === 0) return;
  const names = nodes.slice(0, maxShownNodes).map(({ name }) => name);
  const more = nodes.length > maxShownNodes ? ` and ${nodes.length - maxShownNodes} more` : "";
  context.addDiagnostic({
    reason: "NodesOfOtherProviders",
    summary: `No targets, because their instances are not in this cloud: ${names.join(", ")}${more}`,
  });
}
