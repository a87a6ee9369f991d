import type { Node } from "../../api/node.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import { NODES } from "../../kube/resources/node.ts";
import { DONE, type ReconcileContext, type Result } from "../../runtime/reconciler.ts";
import { cidrAssignmentFailed } from "./events.ts";

export interface AssignDependencies {
  readonly kube: Pick<KubeClient, "get" | "patch">;
  readonly events: EventRecorder;
  readonly wrote: (before: Node, now: Node) => void;
}

/** As upstream: cidrUpdateRetries in pkg/controller/nodeipam/ipam/cidr_allocator.go v1.36.3. */
const REPORT_AFTER_FAILURES = 3;

/** Writes pod CIDRs to a Node that has none. Idempotent: the API server rejects other CIDRs later. */
export async function assign(
  node: Node,
  cidrs: readonly string[],
  deps: AssignDependencies,
  context: ReconcileContext,
): Promise<Result> {
  const { name, uid } = node.metadata;
  const { signal, log } = context;
  const body = { metadata: { uid }, spec: { podCIDR: cidrs[0] ?? "", podCIDRs: [...cidrs] } };
  try {
    deps.wrote(node, await deps.kube.patch(NODES, { name }, { kind: "strategic", body }, { signal }));
    log.info("Set pod CIDRs of Node", { podCIDRs: cidrs });
  } catch (error) {
    signal.throwIfAborted();
    if (isApiError(error, "notFound") || (await isSettled(error, node, deps, context))) return DONE;
    if (context.failures + 1 >= REPORT_AFTER_FAILURES) deps.events.record(cidrAssignmentFailed(node));
    throw error;
  }
  return DONE;
}

/** The Node was replaced, or another client has set its CIDRs. */
async function isSettled(
  error: unknown,
  { metadata: { name, uid } }: Node,
  { kube }: AssignDependencies,
  { signal, log }: ReconcileContext,
): Promise<boolean> {
  // The server rejects a changed UID and changed CIDRs as "invalid".
  if (!isApiError(error, "conflict") && !isApiError(error, "invalid")) return false;
  try {
    const now = await kube.get(NODES, { name }, { signal });
    if (now.metadata.uid !== uid) return true;
    if (now.spec.podCIDRs.length === 0) return false;
    log.info("Node already has pod CIDRs; released the allocated ones", { podCIDRs: now.spec.podCIDRs });
    return true;
  } catch (failure) {
    if (isApiError(failure, "notFound")) return true;
    throw failure;
  }
}
