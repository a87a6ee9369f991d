import type { Node } from "../../api/node.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import { NODES } from "../../kube/resources/node.ts";
import { DONE, type ReconcileContext, type Result } from "../../runtime/reconciler.ts";
import { cidrAssignmentFailed } from "./events.ts";

/** What ranges are written with. */
export interface AssignDependencies {
  readonly kube: Pick<KubeClient, "get" | "patch">;
  readonly events: EventRecorder;
  /** Told of each write that went through, until the cache shows it. */
  readonly wrote: (before: Node, now: Node) => void;
}

/** Upstream says so after 3 tries: cidrUpdateRetries in pkg/controller/nodeipam/ipam/cidr_allocator.go v1.36.3. */
const REPORT_AFTER_FAILURES = 3;

/** Writes ranges on a Node that has none. Safe to repeat: the second write of the same changes nothing, another one is refused. */
export async function assign(
  node: Node,
  ranges: readonly string[],
  deps: AssignDependencies,
  context: ReconcileContext,
): Promise<Result> {
  try {
    deps.wrote(node, await write(node, ranges, deps, context));
    context.log.info("Set pod CIDRs of Node", { podCIDRs: ranges });
  } catch (error) {
    context.signal.throwIfAborted();
    if (isApiError(error, "notFound") || (await isSettled(error, node, deps, context))) return DONE;
    if (context.failures + 1 >= REPORT_AFTER_FAILURES) deps.events.record(cidrAssignmentFailed(node));
    throw error;
  }
  return DONE;
}

function write(
  { metadata: { name, uid } }: Node,
  [podCIDR = "", ...others]: readonly string[],
  { kube }: AssignDependencies,
  { signal }: ReconcileContext,
): Promise<Node> {
  const body = { metadata: { uid }, spec: { podCIDR, podCIDRs: [podCIDR, ...others] } };
  return kube.patch(NODES, { name }, { kind: "strategic", body }, { signal });
}

/** A write was refused because the Node is another one by now, or has ranges that somebody else gave it; the cache will show it. */
async function isSettled(
  error: unknown,
  node: Node,
  { kube }: AssignDependencies,
  { signal, log }: ReconcileContext,
): Promise<boolean> {
  // A changed UID, and ranges over ranges, are "invalid" to the server.
  if (!isApiError(error, "conflict") && !isApiError(error, "invalid")) return false;
  const now = await find(node.metadata.name, kube, signal);
  if (now?.metadata.uid !== node.metadata.uid) return true;
  if (now.spec.podCIDRs.length === 0) return false;
  log.info("Node already has pod CIDRs; released the allocated ones", { podCIDRs: now.spec.podCIDRs });
  return true;
}

async function find(name: string, kube: Pick<KubeClient, "get">, signal: AbortSignal): Promise<Node | undefined> {
  try {
    return await kube.get(NODES, { name }, { signal });
  } catch (error) {
    if (isApiError(error, "notFound")) return undefined;
    throw error;
  }
}
