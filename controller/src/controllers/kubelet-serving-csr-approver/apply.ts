import { keyOf } from "../../api/meta.ts";
import type { EventInput } from "../../api/event.ts";
import type { KubeClient } from "../../kube/client.ts";
import { CERTIFICATE_SIGNING_REQUESTS, conditionPatch } from "../../kube/resources/certificate-signing-request.ts";
import { isApiError } from "../../kube/errors.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import { DONE, type ReconcileContext, type Result, requeueAfter } from "../../runtime/reconciler.ts";
import type { TokenBucket } from "../../util/token-bucket.ts";
import { nodeWithoutCertificate, requestNotApproved } from "./events.ts";
import type { KubeletServingMetrics } from "./metrics.ts";
import type { Approve, Plan, Wait } from "./plan.ts";
import type { Objection } from "./plan/claim.ts";
import type { WaitingRequests } from "./waiting-requests.ts";

export interface ApplyDependencies {
  readonly kube: Pick<KubeClient, "patch">;
  readonly events: EventRecorder;
  readonly metrics: KubeletServingMetrics;
  readonly waiting: WaitingRequests;
  /** Limits what is reported, because a node can create any number of requests. */
  readonly reportLimit: TokenBucket;
}

/** Maximum lag of the cache. */
const CACHE_DELAY_MS = 1000;

export async function apply(plan: Plan, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { metrics, waiting } = deps;
  switch (plan.kind) {
    case "approve":
      return approve(plan, deps, context);
    case "leave":
      metrics.decisions.inc({ decision: plan.objection.reason });
      waiting.put(context.key, plan.objection.reason);
      report(plan.objection, [requestNotApproved(plan.csr, plan.objection)], deps, context);
      return DONE;
    case "wait":
      metrics.decisions.inc({ decision: plan.objection.reason });
      waiting.put(context.key, plan.objection.reason, plan.nodeName);
      if (plan.report) report(plan.objection, eventsOf(plan), deps, context);
      return requeueAfter(plan.retryInMs);
  }
  return plan satisfies never;
}

async function approve(
  { csr, condition }: Approve,
  { kube, metrics, waiting }: ApplyDependencies,
  { signal, log }: ReconcileContext,
): Promise<Result> {
  const { name } = csr.metadata;
  const patch = { kind: "merge", body: conditionPatch(csr, condition) } as const;
  try {
    await kube.patch(CERTIFICATE_SIGNING_REQUESTS, { name }, patch, { signal, subresource: "approval" });
  } catch (error) {
    if (isApiError(error, "notFound")) return DONE;
    // Another client decided, or the request was replaced: evaluate again.
    if (isApiError(error, "conflict")) return requeueAfter(CACHE_DELAY_MS);
    throw error;
  }
  metrics.decisions.inc({ decision: "approved" });
  waiting.forget(keyOf(csr));
  log.info("Approved serving certificate", { requester: csr.spec.username, detail: condition.message });
  return DONE;
}

function eventsOf({ csr, node, objection }: Wait): readonly EventInput[] {
  const onRequest = requestNotApproved(csr, objection);
  return node === undefined ? [onRequest] : [onRequest, nodeWithoutCertificate(node, objection)];
}

/** Reports each message once. What exceeds the rate limit is reported at the next evaluation. */
function report(
  { reason, message }: Objection,
  events: readonly EventInput[],
  { events: recorder, waiting, reportLimit }: ApplyDependencies,
  { key, log }: ReconcileContext,
): void {
  if (!waiting.isNew(key, message) || !reportLimit.tryTake()) return;
  waiting.reported(key, message);
  log.info("Did not approve serving certificate", { reason, detail: message });
  for (const event of events) recorder.record(event);
}
