import type { NodeSelection } from "../../../provider/model/client.ts";
import type { LoadBalancer } from "../../../provider/model/load-balancer.ts";
import { type BackoffOptions, backoffMs } from "../../../util/backoff.ts";
import type { Present, Unregistered } from "../record/record.ts";

interface Requested {
  readonly nodes: Pick<NodeSelection, "fingerprint">;
}

const RETRY: BackoffOptions = { initialMs: 10_000, maxMs: 300_000 };

/** The nodes that are no targets after the response to a change. */
export function unregisteredAfter(
  { nodes: { fingerprint } }: Requested,
  { unregisteredNodes: nodes }: Pick<LoadBalancer, "unregisteredNodes">,
  before: Unregistered | undefined,
  nowMs: number,
): Unregistered | undefined {
  if (nodes.length === 0) return undefined;
  const tries = before?.fingerprint === fingerprint ? before.tries + 1 : 1;
  return { nodes, fingerprint, tries, triedAtMs: nowMs };
}

/** The nodes that are no targets after the end of a change, which a read shows. Not every read can name them. */
export function unregisteredAtEnd(
  desired: Requested,
  loadBalancer: Pick<LoadBalancer, "unregisteredNodes" | "nodesFingerprint">,
  before: Unregistered | undefined,
): Unregistered | undefined {
  const { fingerprint } = desired.nodes;
  if (before?.fingerprint !== fingerprint || loadBalancer.nodesFingerprint === fingerprint) return undefined;
  const { unregisteredNodes: nodes } = loadBalancer;
  return nodes.length === 0 ? before : { ...before, nodes };
}

/** Monotonic time of the next attempt to register the nodes. */
export function retryAtMs({ tries, triedAtMs }: Unregistered): number {
  return triedAtMs + backoffMs(RETRY, tries, () => 0);
}

/** The nodes were requested, and the next attempt is not due. */
export function isWaiting(
  { unregistered, operation }: Present,
  { nodes: { fingerprint } }: Requested,
  nowMs: number,
): boolean {
  if (unregistered?.fingerprint !== fingerprint) return false;
  return operation !== undefined || nowMs < retryAtMs(unregistered);
}

/** Nodes shown in a message. */
const MAX_SHOWN = 3;

export function namesOf({ nodes }: Unregistered): readonly string[] {
  return nodes.map(({ name }) => name);
}

/** The nodes with their reasons: `a (InstanceStopped: Start the instance.)`. */
export function unregisteredText({ nodes }: Unregistered): string {
  const shown = nodes
    .slice(0, MAX_SHOWN)
    .map(({ name, reason, message }) => `${name} (${message === "" ? reason : `${reason}: ${message}`})`);
  return nodes.length > MAX_SHOWN ? `${shown.join(", ")} and others` : shown.join(", ");
}

/** Whether other nodes, or the same for other reasons, were not registered before. */
export function isNew(now: Unregistered, before: Unregistered | undefined): boolean {
  const of = (one: Unregistered | undefined): string =>
    (one?.nodes ?? [])
      .map(({ name, reason }) => `${name} ${reason}`)
      .toSorted()
      .join();
  return of(now) !== of(before);
}
