import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import { PERSISTENT_VOLUMES } from "../../kube/resources/persistent-volume.ts";
import { DONE, type ReconcileContext, type Result } from "../../runtime/reconciler.ts";
import { RetryAfterError, messageOf } from "../../util/errors.ts";
import { notLabeled, topologyMismatch } from "./events.ts";
import type { LabelingResult, ResultCounter } from "./metrics.ts";
import type { OutcomePlan } from "./plan.ts";
import { labelingPatch } from "./plan/labels.ts";
import type { LabelingState } from "./gather.ts";

export interface ApplyDependencies {
  readonly kube: Pick<KubeClient, "patch">;
  readonly events: EventRecorder;
  readonly results: ResultCounter;
  readonly state: LabelingState;
}

class VolumeLookupError extends Error {
  readonly code = "VOLUME_LOOKUP_FAILED";
  override readonly name = "VolumeLookupError";
}

/** At most one write, or one event. */
export async function apply(plan: OutcomePlan, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { pv } = plan;
  const { key } = context;
  switch (plan.kind) {
    case "leave":
      return DONE;
    case "unchanged":
      return settle(plan, "unchanged", deps, key);
    case "label":
      return label(plan, deps, context);
    case "mismatch":
      deps.events.record(topologyMismatch(pv, plan.message));
      return settle(plan, "mismatch", deps, key);
    case "invalid":
      deps.events.record(notLabeled(pv, plan.message));
      return settle(plan, plan.result, deps, key);
    case "retry": {
      const { error } = plan;
      deps.results.inc({ result: "unknown" });
      const failure = new VolumeLookupError(`look up the volume of PersistentVolume ${key}: ${error.message}`, {
        cause: error,
      });
      const delayMs = deps.state.failed(key, error);
      throw delayMs === undefined ? failure : new RetryAfterError(failure.message, delayMs, { cause: failure });
    }
  }
  return plan satisfies never;
}

function settle(
  { pv }: OutcomePlan,
  result: LabelingResult,
  { results, state }: ApplyDependencies,
  key: string,
): Result {
  state.settle(key, pv);
  results.inc({ result });
  return DONE;
}

async function label(
  plan: Extract<OutcomePlan, { kind: "label" }>,
  deps: ApplyDependencies,
  { key, signal, log }: ReconcileContext,
): Promise<Result> {
  const { pv, labels, topology } = plan;
  const { kube, state, events } = deps;
  const body = labelingPatch(pv, labels, topology);
  try {
    const written = await kube.patch(PERSISTENT_VOLUMES, { name: key }, { kind: "merge", body }, { signal });
    state.ownWrites.note(pv, written);
    log.info("PersistentVolume labeled", { labels, withNodeAffinity: topology.length > 0 });
    return settle({ ...plan, pv: written }, "labeled", deps, key);
  } catch (error) {
    if (isApiError(error, "notFound")) return DONE;
    if (!isApiError(error, "invalid")) throw error;
    events.record(notLabeled(pv, messageOf(error)));
    return settle(plan, "invalid", deps, key);
  }
}
