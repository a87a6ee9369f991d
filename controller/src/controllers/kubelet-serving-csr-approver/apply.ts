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

/** What this step writes with. */
export interface ApplyDependencies {
  readonly kube: Pick<KubeClient, "patch">;
  readonly events: EventRecorder;
  readonly metrics: KubeletServingMetrics;
  readonly waiting: WaitingRequests;
  /** For what is said of requests: a node may make any number of them. */
  readonly voice: TokenBucket;
}

/** The cache is behind by less than this. */
const CACHE_DELAY_MS = 1000;

/** Carries the plan out and says when to look again. */
export async function apply(plan: Plan, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { metrics, waiting } = deps;
  switch (plan.kind) {
    case "approve":
      return approve(plan, deps, context);
    case "leave":
      metrics.decisions.inc({ decision: plan.objection.reason });
      waiting.put(context.key, plan.objection.reason);
      tell(plan.objection, [requestNotApproved(plan.csr, plan.objection)], deps, context);
      return DONE;
    case "wait":
      metrics.decisions.inc({ decision: plan.objection.reason });
      waiting.put(context.key, plan.objection.reason, plan.nodeName);
      if (plan.tell) tell(plan.objection, eventsOf(plan), deps, context);
      return requeueAfter(plan.lookInMs);
    default:
      return plan satisfies never;
  }
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
    // Somebody was faster, with a decision or with another request of that name: judged anew.
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

/** Each thing once; more than the bucket gives waits for the next look. */
function tell(
  { reason, message }: Objection,
  events: readonly EventInput[],
  { events: recorder, waiting, voice }: ApplyDependencies,
  { key, log }: ReconcileContext,
): void {
  if (!waiting.isNews(key, message) || !voice.tryTake()) return;
  waiting.reported(key, message);
  log.info("Did not approve serving certificate", { reason, detail: message });
  for (const event of events) recorder.record(event);
}
